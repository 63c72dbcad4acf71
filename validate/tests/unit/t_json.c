/* t_json.c - documents as trees, and what a path means. */
#include "sim/base/json.h"

#include "sim/base/out_json.h"
#include "validate/tests/test.h"

static const struct json *parse(const char *text, struct arena *a)
{
	struct err e = ERR_INIT;
	const struct json *x = json_parse(text, strlen(text), a, &e);

	if (!x)
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	return x;
}

static double number(const struct json *x, const char *path)
{
	struct err e = ERR_INIT;
	const struct json *v = json_find(x, path, &e);

	if (!v || v->kind != JSON_NUMBER)
		test_fail(__FILE__, __LINE__, "%s: %s", path, v ? json_kind_name(v->kind) : e.msg);
	return v->number;
}

TEST(a_path_leads_through_objects_and_lists)
{
	struct arena *a = arena_new(0);
	const struct json *x =
		parse("{\"a\": [1, [2, 3], {\"b\": 4}], \"c\": {\"d\": -5.5e1}, \"\": 6, \"n\": null}", a);

	CHECK(number(x, "a[0]") == 1 && number(x, "a[1][1]") == 3 && number(x, "a[2].b") == 4 &&
	      number(x, "c.d") == -55);
	CHECK(json_find(x, "", NULL) == x && json_find(x, "n", NULL)->kind == JSON_NULL);
	CHECK(!json_find(x, "a[3]", NULL) && !json_find(x, "a.0", NULL) && !json_find(x, "a[", NULL) &&
	      !json_find(x, "a[]", NULL));
	CHECK(!json_find(x, "a[2]b", NULL) && !json_find(x, "a[2].", NULL) && !json_find(x, "c.", NULL) &&
	      !json_find(x, ".c", NULL));
	CHECK(!json_find(x, "n.x", NULL) && !json_find(x, "c.d.e", NULL));
	arena_free(a);
}

TEST(of_keys_with_dots_the_longest_that_leads_somewhere_is_meant)
{
	struct arena *a = arena_new(0);
	const struct json *x =
		parse("{\"a\": {\"b\": 1, \"c.d\": 2}, \"a.b\": 3, \"a.c\": 4, \"a.c.e\": {\"f\": 5}}", a);

	CHECK(number(x, "a.b") == 3 && number(x, "a.c.d") == 2 && number(x, "a.c") == 4 && number(x, "a.c.e.f") == 5);
	arena_free(a);
}

TEST(what_is_no_document_is_an_error)
{
	static const char *const bad[] = { "", "{", "[1,]", "{\"a\" 1}", "1 2", "nul", "[1]]", "\"\xff\"" };
	struct arena *a = arena_new(0);
	char deep[2 * JSON_DEPTH + 8] = "";

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err e = ERR_INIT;

		if (json_parse(bad[i], strlen(bad[i]), a, &e))
			test_fail(__FILE__, __LINE__, "'%s' is taken", bad[i]);
		CHECK_HAS(e.msg, "no JSON document");
	}
	memset(deep, '[', JSON_DEPTH);
	memset(deep + JSON_DEPTH, ']', JSON_DEPTH);
	CHECK(parse(deep, a)->kind == JSON_LIST);
	memset(deep, '[', JSON_DEPTH + 1);
	memset(deep + JSON_DEPTH + 1, ']', JSON_DEPTH + 1);
	CHECK(!json_parse(deep, strlen(deep), a, NULL));
	arena_free(a);
}

/* The same values, as text that is read and as a tree that is made. */
static void state(struct out_json *j)
{
	out_json_open(j, NULL, '{');
	out_json_real(j, "third", 1.0 / 3);
	out_json_real(j, "inf", 1e308 * 10);
	out_json_real(j, "zero", -0.0);
	out_json_u64(j, "most", UINT64_MAX);
	out_json_int(j, "least", INT64_MIN);
	out_json_text(j, "bytes", "a\xff\xfe\"\n\x01z");
	out_json_text(j, "none", NULL);
	out_json_lines(j, "lines", "one\ntwo\n");
	out_json_open(j, "empty", '[');
	out_json_close(j, ']');
	out_json_bool(j, "yes", true);
	out_json_close(j, '}');
}

TEST(a_tree_that_is_made_has_what_text_would_say)
{
	struct arena *a = arena_new(0);
	struct str text = STR_INIT, none = STR_INIT;
	struct json_tree *t = json_tree_new(a);
	struct out_json j;
	const struct json *x, *y;

	out_json_init(&j, &text);
	state(&j);
	x = parse(str_c(&text), a);
	out_json_init_tree(&j, t, &none);
	state(&j);
	y = json_tree_root(t, NULL);
	CHECK(y && x->n == y->n && x->n == 10 && !none.len);
	for (size_t i = 0; i < x->n; i++) {
		CHECK_STR(x->v[i]->key, y->v[i]->key);
		CHECK(x->v[i]->kind == y->v[i]->kind && x->v[i]->n == y->v[i]->n && x->v[i]->number == y->v[i]->number);
		if (x->v[i]->text)
			CHECK_STR(x->v[i]->text, y->v[i]->text);
	}
	CHECK(number(y, "third") == 0.333333333);
	CHECK_STR(json_find(y, "lines[1]", NULL)->text, "two");
	str_free(&text);
	arena_free(a);
}

TEST(a_tree_that_is_not_whole_is_an_error)
{
	struct arena *a = arena_new(0), *little = arena_new(8192);
	struct json_tree *t = json_tree_new(a);
	struct err e = ERR_INIT;

	CHECK(!json_tree_root(t, NULL));
	json_tree_open(t, NULL, JSON_LIST);
	CHECK(!json_tree_root(t, NULL)); /* open still */
	json_tree_close(t);
	CHECK(json_tree_root(t, NULL)->n == 0);
	json_tree_value(t, NULL, JSON_NULL, 0, NULL);
	CHECK(!json_tree_root(t, NULL)); /* two */
	t = json_tree_new(a);
	for (int i = 0; i <= JSON_DEPTH; i++)
		json_tree_open(t, NULL, JSON_LIST);
	CHECK(!json_tree_root(t, &e));
	CHECK_HAS(e.msg, "too deep");
	err_clear(&e);
	t = json_tree_new(little);
	json_tree_open(t, NULL, JSON_LIST);
	for (int i = 0; i < 1000; i++)
		json_tree_value(t, NULL, JSON_TEXT, 0, "something");
	json_tree_close(t);
	CHECK(!json_tree_root(t, &e) && e.kind == ERR_NOMEM);
	arena_free(little);
	arena_free(a);
}

SUITE(t_json, T(a_tree_that_is_made_has_what_text_would_say), T(a_tree_that_is_not_whole_is_an_error),
      T(a_path_leads_through_objects_and_lists), T(of_keys_with_dots_the_longest_that_leads_somewhere_is_meant),
      T(what_is_no_document_is_an_error));
