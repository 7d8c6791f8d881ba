/**
 * Functions that SQLite has built in and statements of the store use, so that they are the same over both engines: JSON in texts, the smaller and
 * the larger of some values, sums that are 0 of nothing.
 */

/** A text as JSON. Postgres has no NUL in texts, and fails where JSON has one. */
const json = String.raw`CREATE FUNCTION json_of(source TEXT) RETURNS JSON LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT (CASE WHEN position('\u0000' IN source) = 0 THEN source
      ELSE regexp_replace(source, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g') END)::json
  $$`

const operators: ReadonlyArray<string> = (
  [
    ["->>", "json_text", "TEXT"],
    ["->>", "json_text", "INTEGER"],
    ["->", "json_part", "TEXT"]
  ] as const
).flatMap(([operator, name, right]) => [
  `CREATE FUNCTION ${name}(source TEXT, place ${right}) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT (json_of(source) OPERATOR(pg_catalog.${operator}) place)::text
  $$`,
  `CREATE OPERATOR ${operator} (LEFTARG = TEXT, RIGHTARG = ${right}, FUNCTION = ${name})`
])

/** The members of an object or the elements of a list, in their order (`id`). */
const each = `CREATE FUNCTION json_each(source TEXT) RETURNS TABLE (id BIGINT, key TEXT, value TEXT) LANGUAGE sql IMMUTABLE STRICT ROWS 20 AS $$
    SELECT number, (number - 1)::text, element
      FROM json_array_elements_text(CASE json_typeof(json_of(source)) WHEN 'array' THEN json_of(source) ELSE '[]' END)
        WITH ORDINALITY AS elements(element, number)
    UNION ALL
    SELECT number, name, member
      FROM pg_catalog.json_each_text(CASE json_typeof(json_of(source)) WHEN 'object' THEN json_of(source) ELSE '{}' END)
        WITH ORDINALITY AS members(name, member, number)
  $$`

/** Texts as a list. */
const texts = `CREATE FUNCTION json_texts(VARIADIC texts TEXT[]) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$ SELECT array_to_json(texts)::text $$`

/** Sets a member of an object (`$.name`), where it is or behind the others. */
const set = `CREATE FUNCTION json_set(source TEXT, place TEXT, member TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
    SELECT '{' || string_agg(to_json(name)::text || ':' || content, ',' ORDER BY number) || '}' FROM (
      SELECT number, name, CASE WHEN name = substr(place, 3) THEN COALESCE(to_json(member)::text, 'null') ELSE given::text END AS content
        FROM pg_catalog.json_each(json_of(source)) WITH ORDINALITY AS members(name, given, number)
      UNION ALL
      SELECT 1000000, substr(place, 3), COALESCE(to_json(member)::text, 'null')
        WHERE (json_of(source) OPERATOR(pg_catalog.->) substr(place, 3)) IS NULL
    ) AS together
  $$`

/** Null where one of the values is, unlike LEAST and GREATEST. */
const extremes: ReadonlyArray<string> = (
  [
    ["min", "LEAST"],
    ["max", "GREATEST"]
  ] as const
).flatMap(([name, extreme]) =>
  (
    [
      ["BIGINT", 2],
      ["BIGINT", 3],
      ["BIGINT", 4],
      ["NUMERIC", 2]
    ] as const
  ).map(([type, count]) => {
    const places = Array.from({ length: count }, (_, n) => `$${n + 1}`)
    return `CREATE FUNCTION ${name}(${places.map(() => type).join(", ")}) RETURNS ${type} LANGUAGE sql IMMUTABLE AS $$
      SELECT CASE WHEN ${places.map((place) => `${place} IS NULL`).join(" OR ")} THEN NULL ELSE ${extreme}(${places.join(", ")}) END
    $$`
  })
)

const total: ReadonlyArray<string> = [
  `CREATE FUNCTION total_add(sum DOUBLE PRECISION, value DOUBLE PRECISION) RETURNS DOUBLE PRECISION LANGUAGE sql IMMUTABLE AS $$
    SELECT sum + COALESCE(value, 0)
  $$`,
  "CREATE AGGREGATE total(DOUBLE PRECISION) (SFUNC = total_add, STYPE = DOUBLE PRECISION, INITCOND = '0')"
]

export const functions: ReadonlyArray<string> = [json, ...operators, each, texts, set, ...extremes, ...total]
