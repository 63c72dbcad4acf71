/* t_json.c - documents as trees, and what a path means. */
#include "sim/base/json.h"

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

SUITE(t_json, T(a_path_leads_through_objects_and_lists), T(of_keys_with_dots_the_longest_that_leads_somewhere_is_meant),
      T(what_is_no_document_is_an_error));
