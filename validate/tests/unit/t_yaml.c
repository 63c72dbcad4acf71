/* t_yaml.c - the tree, the places, and what hostile files get. */
#include "sim/base/yaml.h"

#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/base/str.h"
#include "validate/tests/test.h"

static struct yaml *parse(const char *text)
{
	struct err e = ERR_INIT;
	struct yaml *y = yaml_parse(text, strlen(text), "t.yaml", &e);

	if (!y)
		test_fail(__FILE__, __LINE__, "\"%s\": %s", text, e.msg);
	return y;
}

/* The text must be refused with this message at this place. */
static void refuse_n(const char *text, size_t n, int line, int col, const char *part)
{
	struct err e = ERR_INIT;
	struct yaml *y = yaml_parse(text, n, "t.yaml", &e);

	if (y)
		test_fail(__FILE__, __LINE__, "\"%.60s\" was taken", text);
	CHECK(e.kind == ERR_CONFIG);
	CHECK_STR(e.file, "t.yaml");
	CHECK_HAS(e.msg, part);
	if (e.line != line || e.col != col)
		test_fail(__FILE__, __LINE__, "\"%s\" is placed at %d:%d, not %d:%d", e.msg, e.line, e.col, line, col);
}

static void refuse(const char *text, int line, int col, const char *part)
{
	refuse_n(text, strlen(text), line, col, part);
}

TEST(nodes_know_kind_text_order_and_place)
{
	struct yaml *y = parse("a: 1\nlist:\n  - x\n  - 'q'\nm: {k: v}\n");
	const struct ynode *r = yaml_root(y), *list = ynode_get(r, "list");

	CHECK(r->kind == YNODE_MAP && r->n == 3);
	CHECK_STR(r->keys[0]->text, "a");
	CHECK_STR(r->keys[1]->text, "list");
	CHECK_STR(r->keys[2]->text, "m");
	CHECK_STR(r->vals[0]->text, "1");
	CHECK_U64(r->vals[0]->line, 1);
	CHECK_U64(r->vals[0]->col, 4);
	CHECK(list->kind == YNODE_SEQ && list->n == 2 && !list->keys);
	CHECK_U64(list->vals[1]->line, 4);
	CHECK_U64(list->vals[1]->col, 5);
	CHECK(list->vals[1]->quoted && !list->vals[0]->quoted);
	CHECK_STR(ynode_get(ynode_get(r, "m"), "k")->text, "v");
	CHECK_STR(yaml_name(y), "t.yaml");
	yaml_free(y);
}

TEST(an_empty_file_is_an_empty_map)
{
	static const char *const empty[] = { "", "\n\n", "# only a comment\n", "---\n", "---\n...\n" };

	for (int i = 0; i < 5; i++) {
		struct yaml *y = parse(empty[i]);

		CHECK(yaml_root(y)->kind == YNODE_MAP && yaml_root(y)->n == 0);
		yaml_free(y);
	}
}

TEST(a_missing_value_is_an_empty_plain_scalar)
{
	struct yaml *y = parse("a:\nb: ''\n");
	const struct ynode *a = ynode_get(yaml_root(y), "a"), *b = ynode_get(yaml_root(y), "b");

	CHECK(a->kind == YNODE_SCALAR && !a->quoted);
	CHECK_STR(a->text, "");
	CHECK(b->quoted);
	yaml_free(y);
}

TEST(getting_from_what_is_no_map_is_null)
{
	struct yaml *y = parse("[a]");

	CHECK(!ynode_get(yaml_root(y), "a"));
	CHECK(!ynode_get(NULL, "a"));
	yaml_free(y);
}

TEST(an_alias_is_the_node_it_names)
{
	struct yaml *y = parse("a: &x {k: 1}\nb: *x\nc: &x 2\nd: *x\n");
	const struct ynode *r = yaml_root(y);

	CHECK(ynode_get(r, "a") == ynode_get(r, "b"));
	CHECK_STR(ynode_get(r, "d")->text, "2");
	yaml_free(y);
}

TEST(windows_line_ends_and_a_byte_order_mark_are_fine)
{
	struct yaml *y = parse("\xef\xbb\xbf"
	                       "a: 1\r\nb: 2\r\n");
	struct err e = ERR_INIT;

	CHECK_STR(ynode_get(yaml_root(y), "b")->text, "2");
	yaml_err(y, ynode_get(yaml_root(y), "b"), &e, "bad");
	CHECK_STR(e.src, "b: 2");
	yaml_free(y);
}

TEST(a_fault_carries_its_line_and_a_caret)
{
	struct err e = ERR_INIT;
	struct yaml *y = yaml_parse("a: 1\n  b: 2\n", 12, "t.yaml", &e);
	char buf[512];

	CHECK(!y);
	err_format(&e, buf, sizeof buf);
	CHECK_STR(buf, "t.yaml:2:4: not valid YAML: mapping values are not allowed in this context\n"
	               "    b: 2\n"
	               "     ^");
}

TEST(syntax_faults_say_where_and_what)
{
	refuse("a: [1, 2\n", 2, 1, "did not find expected ',' or ']' while parsing a flow sequence (from line 1)");
	refuse("a: \"x\n", 2, 1, "unexpected end of stream");
	refuse("a:\n\tb: 1\n", 2, 1, "a tab cannot indent");
	refuse("a: {\n", 2, 1, "not valid YAML");
	refuse("a: 1\n- b\n", 2, 1, "not valid YAML");
	refuse("a: 'x\xc3\xa4' y: 2", 1, 9, "not valid YAML");
	refuse("*x", 1, 1, "alias '*x' names no anchor above it");
	refuse("a: &x [*x]", 1, 8, "alias '*x' stands inside what it names");
}

TEST(what_we_leave_out_is_refused_and_not_misread)
{
	refuse("a: 1\n---\nb: 2\n", 2, 1, "a second document starts here");
	refuse("a: !!int 1\n", 1, 4, "tags");
	refuse("a: !x {b: 1}\n", 1, 4, "tags");
	refuse("d: &d {x: 1}\na:\n  <<: *d\n", 3, 3, "merge keys");
	refuse("? [a, b]\n: 1\n", 1, 3, "a key must be a plain name");
	refuse("{{a: 1}: 2}", 1, 2, "a key must be a plain name");
}

TEST(duplicate_keys_are_refused_in_small_and_large_maps)
{
	struct str s = STR_INIT;

	refuse("a: 1\nb: 2\na: 3\n", 3, 1, "key 'a' is given twice, first in line 1");
	refuse("m:\n  {x: 1, 'x': 2}\n", 2, 10, "key 'x' is given twice");
	for (int i = 0; i < 1000; i++)
		str_addf(&s, "k%d: %d\n", i, i);
	str_add(&s, "k77: again\n");
	refuse(str_c(&s), 1001, 1, "key 'k77' is given twice, first in line 78");
	str_free(&s);
}

TEST(a_nul_byte_is_refused_wherever_it_is)
{
	refuse_n("a: 1\nb: \0\n", 10, 2, 4, "a NUL byte");
	refuse_n("\0", 1, 1, 1, "a NUL byte");
	refuse("a: \"x\\0y\"\n", 1, 4, "a NUL character");
	refuse("\"k\\0\": 1\n", 1, 1, "a NUL character");
	refuse_n("\xff\xfe"
	         "a\0",
	         4, 1, 4, "a NUL byte"); /* UTF-16 */
}

TEST(bytes_that_are_not_utf8_are_refused_at_their_place)
{
	refuse("a: 1\nb: \xff\n", 2, 4, "not valid UTF-8");
	refuse("a: \xc3\xa4\xc3(\n", 1, 5, "not valid UTF-8");
	refuse("a: \xe2\x82", 1, 4, "not valid UTF-8");
	refuse("a: \xed\xa0\x80\n", 1, 4, "not valid UTF-8");
	refuse("a: \x01\n", 1, 4, "a control character");
	refuse("a: \x1b[31m\n", 1, 4, "a control character");
}

TEST(an_alias_bomb_is_refused)
{
	struct str s = STR_INIT;

	str_add(&s, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
	for (int i = 1; i < 12; i++) {
		str_addf(&s, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			str_addf(&s, "%s*a%d", k ? "," : "", i - 1);
		str_add(&s, "]\n");
	}
	refuse(str_c(&s), 6, 22, "more than 500000 values once aliases are followed");
	str_free(&s);
}

TEST(depth_is_bounded_also_through_aliases)
{
	struct str s = STR_INIT;
	struct yaml *y;

	for (int i = 0; i < YAML_MAX_DEPTH; i++)
		str_addc(&s, '[');
	str_addc(&s, 'x');
	for (int i = 0; i < YAML_MAX_DEPTH; i++)
		str_addc(&s, ']');
	y = parse(str_c(&s));
	yaml_free(y);
	str_clear(&s);
	for (int i = 0; i < 5000; i++)
		str_addc(&s, '[');
	refuse(str_c(&s), 1, YAML_MAX_DEPTH + 1, "nested deeper than 64 levels");
	str_clear(&s);
	str_add(&s, "a0: &a0 x\n");
	for (int i = 1; i < 200; i++)
		str_addf(&s, "a%d: &a%d [*a%d]\n", i, i, i - 1);
	refuse(str_c(&s), 65, 12, "nested deeper than 64 levels once aliases are followed");
	str_free(&s);
}

TEST(size_is_bounded_in_bytes_values_and_anchors)
{
	struct err e = ERR_INIT;
	struct str s = STR_INIT;
	char *big = malloc(YAML_MAX_BYTES + 1);

	CHECK(big);
	memset(big, ' ', YAML_MAX_BYTES + 1);
	CHECK(!yaml_parse(big, YAML_MAX_BYTES + 1, "t.yaml", &e));
	CHECK_HAS(e.msg, "longer than 8 MiB");
	free(big);
	str_add(&s, "[x");
	for (int i = 0; i < YAML_MAX_NODES; i++)
		str_add(&s, ",x");
	str_addc(&s, ']');
	refuse(str_c(&s), 1, 2 * YAML_MAX_NODES, "more than 500000 values");
	str_clear(&s);
	for (int i = 0; i < 1001; i++)
		str_addf(&s, "- &a%d x\n", i);
	refuse(str_c(&s), 1001, 3, "too many anchors");
	str_free(&s);
}

TEST(a_file_cut_anywhere_is_read_or_refused_and_nothing_else)
{
	const char *text = "# c\na: &x {k: 'v', l: [1, \"\\u00e4\", *y]}\nb: |\n  text\n  more\n"
			   "c: >-\n  folded\n? d\n: e\n";

	for (size_t n = 0; n <= strlen(text); n++) {
		struct err e = ERR_INIT;
		struct yaml *y = yaml_parse(text, n, "t.yaml", &e);

		CHECK(y ? e.kind == ERR_NONE : e.kind == ERR_CONFIG && e.line > 0);
		yaml_free(y);
	}
}

TEST(files_that_cannot_be_read_are_io_errors)
{
	struct err e = ERR_INIT;
	char path[400];

	CHECK(!yaml_load(test_path(path, sizeof path, "absent.yaml"), &e));
	CHECK(e.kind == ERR_IO);
	CHECK_HAS(e.msg, "absent.yaml': no such file or directory");
	err_clear(&e);
	CHECK(!yaml_load(test_tmp(), &e));
	CHECK(e.kind == ERR_IO);
	CHECK_HAS(e.msg, "is a directory");
}

TEST(a_file_is_loaded_under_its_path)
{
	struct err e = ERR_INIT;
	char path[400];
	FILE *f = fopen(test_path(path, sizeof path, "a.yaml"), "w");
	struct yaml *y;

	CHECK(f && fputs("k: v\n", f) >= 0 && fclose(f) == 0);
	y = yaml_load(path, &e);
	CHECK(y);
	CHECK_STR(yaml_name(y), path);
	CHECK_STR(ynode_get(yaml_root(y), "k")->text, "v");
	yaml_free(y);
	yaml_free(NULL);
}

TEST(an_endless_file_is_refused)
{
	struct err e = ERR_INIT;

	CHECK(!yaml_load("/dev/zero", &e));
	CHECK_HAS(e.msg, "longer than 8 MiB");
}

TEST(whole_numbers_are_read_within_their_range)
{
	struct yaml *y = parse("[0, 42, 18446744073709551615, 18446744073709551616, -1, 1.5, '', 0x10, ' 1', [1]]");
	const struct ynode *r = yaml_root(y);
	struct err e = ERR_INIT;
	uint64_t v = 7;

	CHECK_OK(yaml_u64(y, r->vals[0], 0, 10, &v, &e), e);
	CHECK_U64(v, 0);
	CHECK_OK(yaml_u64(y, r->vals[1], 42, 42, &v, &e), e);
	CHECK_U64(v, 42);
	CHECK_OK(yaml_u64(y, r->vals[2], 0, UINT64_MAX, &v, &e), e);
	CHECK_U64(v, UINT64_MAX);
	v = 7;
	for (size_t i = 3; i < r->n; i++) {
		CHECK(yaml_u64(y, r->vals[i], 0, UINT64_MAX, &v, &e) == -1);
		CHECK_U64(e.line, 1);
		err_clear(&e);
	}
	CHECK(yaml_u64(y, r->vals[1], 43, 50, &v, &e) == -1);
	CHECK_STR(e.msg, "'42' is not a whole number from 43 to 50");
	CHECK_U64(v, 7);
	yaml_free(y);
}

TEST(booleans_are_words)
{
	struct yaml *y = parse("[true, false, yes, no, on, off, 1, True, '']");
	const struct ynode *r = yaml_root(y);
	struct err e = ERR_INIT;
	bool b = false;

	for (size_t i = 0; i < 6; i++) {
		CHECK_OK(yaml_bool(y, r->vals[i], &b, &e), e);
		CHECK(b == (i % 2 == 0));
	}
	for (size_t i = 6; i < 9; i++) {
		CHECK(yaml_bool(y, r->vals[i], &b, &e) == -1);
		err_clear(&e);
	}
	yaml_free(y);
}

TEST(numbers_are_whole_and_finite)
{
	struct yaml *y = parse("[1, -2.5e3, 0.1, 1x, '', inf, nan, 1e999, [1]]");
	const struct ynode *r = yaml_root(y);
	struct err e = ERR_INIT;
	double v[3];

	for (size_t i = 0; i < 3; i++)
		CHECK_OK(yaml_real(y, r->vals[i], &v[i], &e), e);
	CHECK(v[0] == 1 && v[1] == -2500 && v[2] == 0.1);
	for (size_t i = 3; i < 9; i++) {
		CHECK(yaml_real(y, r->vals[i], &v[0], &e) == -1 && e.line == 1);
		err_clear(&e);
	}
	yaml_free(y);
}

TEST(only_known_keys_pass_and_the_nearest_is_named)
{
	static const char *const keys[] = { "name", "layers" };
	struct yaml *y = parse("name: x\nlayer: 3\n");
	struct err e = ERR_INIT;

	CHECK(yaml_only_keys(y, yaml_root(y), keys, 2, &e) == -1);
	CHECK_STR(e.msg, "unknown key 'layer'; did you mean 'layers'?");
	CHECK_U64(e.line, 2);
	CHECK_STR(e.src, "layer: 3");
	yaml_free(y);
	err_clear(&e);
	y = parse("quite_different: x");
	CHECK(yaml_only_keys(y, yaml_root(y), keys, 2, &e) == -1);
	CHECK_STR(e.msg, "unknown key 'quite_different'");
	yaml_free(y);
	err_clear(&e);
	y = parse("[a]");
	CHECK(yaml_only_keys(y, yaml_root(y), keys, 2, &e) == -1);
	CHECK_STR(e.msg, "a list where a mapping is due");
	yaml_free(y);
}

TEST(random_bytes_never_crash_the_reader)
{
	static const char alphabet[] = "a1:-[]{}&*!|>'\"%@#,? \n\t\\x\xc3\xa4<~.";
	struct rng r;
	char text[200];

	rng_seed(&r, test_seed(), "yaml");
	for (int i = 0; i < 20000; i++) {
		size_t n = (size_t)rng_below(&r, sizeof text);
		struct err e = ERR_INIT;
		struct yaml *y;

		for (size_t k = 0; k < n; k++)
			text[k] = alphabet[rng_below(&r, sizeof alphabet - 1)];
		y = yaml_parse(text, n, "t.yaml", &e);
		CHECK(y ? e.kind == ERR_NONE : e.kind == ERR_CONFIG && e.line > 0 && e.col > 0);
		yaml_free(y);
	}
}

/* JSON is YAML but for these: a pair of surrogates, a key of more than 1024 characters, a tab before a value. */
TEST(json_is_read_as_json)
{
	struct str text = STR_INIT, key = STR_INIT;
	const struct ynode *r;
	struct yaml *y;

	for (int i = 0; i < 3000; i++)
		str_addc(&key, 'k');
	str_addf(&text, "{\n\t\"face\": \"\\ud83d\\ude00\", \"\\u00e4\": [1e5,\ttrue, null,\n \"3\"],\n  \"%s\": {}}\n",
	         str_c(&key));
	y = parse(str_c(&text));
	r = yaml_root(y);
	CHECK_U64(r->n, 3);
	CHECK_STR(ynode_get(r, "face")->text, "\xf0\x9f\x98\x80");
	CHECK(ynode_get(r, "face")->quoted && ynode_get(r, "face")->line == 2 && ynode_get(r, "face")->col == 10);
	CHECK_STR(r->keys[1]->text, "\xc3\xa4");
	CHECK(r->vals[1]->kind == YNODE_SEQ && r->vals[1]->n == 4 && r->vals[1]->col == 36);
	CHECK_STR(r->vals[1]->vals[0]->text, "1e5");
	CHECK_STR(r->vals[1]->vals[1]->text, "true");
	CHECK(!r->vals[1]->vals[2]->quoted && r->vals[1]->vals[3]->quoted);
	CHECK(r->vals[1]->vals[3]->line == 3 && r->vals[1]->vals[3]->col == 2);
	CHECK_STR(r->keys[2]->text, str_c(&key));
	CHECK(r->keys[2]->line == 4 && r->keys[2]->col == 3 && r->vals[2]->kind == YNODE_MAP);
	yaml_free(y);
	str_free(&text);
	str_free(&key);
}

SUITE(t_yaml, T(nodes_know_kind_text_order_and_place), T(an_empty_file_is_an_empty_map),
      T(a_missing_value_is_an_empty_plain_scalar), T(getting_from_what_is_no_map_is_null),
      T(an_alias_is_the_node_it_names), T(windows_line_ends_and_a_byte_order_mark_are_fine),
      T(a_fault_carries_its_line_and_a_caret), T(syntax_faults_say_where_and_what),
      T(what_we_leave_out_is_refused_and_not_misread), T(duplicate_keys_are_refused_in_small_and_large_maps),
      T(a_nul_byte_is_refused_wherever_it_is), T(bytes_that_are_not_utf8_are_refused_at_their_place),
      T(an_alias_bomb_is_refused), T(depth_is_bounded_also_through_aliases),
      T(size_is_bounded_in_bytes_values_and_anchors), T(a_file_cut_anywhere_is_read_or_refused_and_nothing_else),
      T(files_that_cannot_be_read_are_io_errors), T(a_file_is_loaded_under_its_path), T(an_endless_file_is_refused),
      T(whole_numbers_are_read_within_their_range), T(booleans_are_words), T(numbers_are_whole_and_finite),
      T(only_known_keys_pass_and_the_nearest_is_named), T(json_is_read_as_json),
      T(random_bytes_never_crash_the_reader));
