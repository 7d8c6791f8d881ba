/** Compares documents of the API: what breaks a client is found, and what does not is let be. */
import { assert, describe, it } from "@effect/vitest"
import { contractBreaks, contractOf } from "../../../bin/release/contract.mjs"
import { fragmentsIn } from "../../../bin/release/changelog.mjs"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { openApiJson } from "../../../src/contract/OpenApiDocument.ts"

const root = new URL("../../..", import.meta.url).pathname
/** Written by a release (bin/release/release.mjs). */
const releasedFile = join(root, "test/fixtures/released/contract.json")

type Json = Record<string, unknown>

const order = {
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: {
    name: { type: "string", maxLength: 64 },
    kind: { enum: ["a", "b"] },
    count: { anyOf: [{ type: "integer" }, { type: "null" }] }
  }
}

const view = {
  type: "object",
  required: ["id", "state"],
  properties: { id: { type: "string" }, state: { enum: ["on", "off"] }, note: { type: "string" } }
}

/** A document with one operation, whose parts are given. */
const documentOf = ({
  body = order,
  answer = view,
  parameters = [{ in: "query", name: "limit", schema: { type: "integer", maximum: 100 } }],
  path = "/api/things"
}: {
  readonly body?: Json
  readonly answer?: Json
  readonly parameters?: ReadonlyArray<Json>
  readonly path?: string
} = {}) => ({
  paths: {
    [path]: {
      post: {
        parameters,
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/Body" } } }
        },
        responses: { 200: { content: { "application/json": { schema: answer } } } }
      }
    }
  },
  components: { schemas: { Body: body } }
})

const before = documentOf()
const withProperties = (schema: Json, changed: Json): Json => ({
  ...schema,
  properties: { ...(schema["properties"] as Json), ...changed }
})
const without = (schema: Json, name: string): Json => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema["properties"] as Json).filter(([one]) => one !== name))
})

const breaking: ReadonlyArray<readonly [string, Parameters<typeof documentOf>[0], RegExp]> = [
  ["a path that is gone", { path: "/api/items" }, /POST \/api\/things is gone/],
  ["a parameter that is gone", { parameters: [] }, /parameter query limit is gone/],
  [
    "a new parameter that is required",
    {
      parameters: [
        ...(before.paths["/api/things"]?.post.parameters ?? []),
        { in: "query", name: "zone", required: true }
      ]
    },
    /new required parameter query zone/
  ],
  [
    "a lower limit",
    { parameters: [{ in: "query", name: "limit", schema: { type: "integer", maximum: 50 } }] },
    /maximum 50/
  ],
  [
    "a new field that is required",
    { body: { ...withProperties(order, { zone: { type: "string" } }), required: ["name", "zone"] } },
    /must have the field zone/
  ],
  ["a field that is not taken any more", { body: without(order, "kind") }, /no field kind/],
  [
    "a value that is not taken any more",
    { body: withProperties(order, { kind: { enum: ["a"] } }) },
    /kind cannot be "b"/
  ],
  [
    "null that is not taken any more",
    { body: withProperties(order, { count: { type: "integer" } }) },
    /count is integer, and not null/
  ],
  [
    "another type of a field",
    { body: withProperties(order, { name: { type: "number" } }) },
    /name is number, and not string/
  ],
  [
    "a shorter text",
    { body: withProperties(order, { name: { type: "string", maxLength: 10 } }) },
    /name has maxLength 10/
  ],
  [
    "an answer without a field",
    { answer: { ...without(view, "state"), required: ["id"] } },
    /may be without the field state/
  ],
  [
    "an answer without a field that was not always there",
    { answer: without(view, "note") },
    /may be without the field note/
  ],
  ["an answer whose field may be missing", { answer: { ...view, required: ["id"] } }, /may be without the field state/],
  [
    "a new value in an answer",
    { answer: withProperties(view, { state: { enum: ["on", "off", "broken"] } }) },
    /state cannot be "broken"/
  ],
  [
    "null in an answer",
    { answer: withProperties(view, { id: { type: ["string", "null"] } }) },
    /id is string, and not null/
  ]
]

const harmless: ReadonlyArray<readonly [string, Parameters<typeof documentOf>[0]]> = [
  ["nothing", {}],
  ["a new field that may be left out", { body: withProperties(order, { zone: { type: "string" } }) }],
  ["a new value that is taken", { body: withProperties(order, { kind: { enum: ["a", "b", "c"] } }) }],
  ["a longer text", { body: withProperties(order, { name: { type: "string", maxLength: 200 } }) }],
  ["a field that may be left out now", { body: { ...order, required: [] } }],
  ["a new field in an answer", { answer: withProperties(view, { more: { type: "string" } }) }],
  ["fewer values in an answer", { answer: withProperties(view, { state: { enum: ["on"] } }) }],
  [
    "a new parameter",
    { parameters: [...(before.paths["/api/things"]?.post.parameters ?? []), { in: "query", name: "zone" }] }
  ]
]

describe("the contract", () => {
  for (const [what, changed, expected] of breaking) {
    it(`is broken by ${what}`, () => {
      const breaks = contractBreaks(before, documentOf(changed))
      assert.strictEqual(breaks.length, 1, breaks.join("\n"))
      assert.match(breaks[0] ?? "", expected)
    })
  }

  for (const [what, changed] of harmless) {
    it(`is not broken by ${what}`, () => assert.deepStrictEqual(contractBreaks(before, documentOf(changed)), []))
  }

  it("follows references to themselves", () => {
    const tree = {
      type: "object",
      properties: { name: { type: "string" }, child: { $ref: "#/components/schemas/Body" } }
    }
    assert.deepStrictEqual(contractBreaks(documentOf({ body: tree }), documentOf({ body: tree })), [])
    const narrow = { ...tree, properties: { ...tree.properties, name: { type: "integer" } } }
    assert.match(contractBreaks(documentOf({ body: tree }), documentOf({ body: narrow })).join(), /name is integer/)
  })

  it("of this gateway is kept by itself, and broken by an operation, a field and a value that go", () => {
    const document = contractOf(JSON.parse(openApiJson()))
    assert.deepStrictEqual(contractBreaks(document, document), [])
    const text = JSON.stringify(document)
    assert.notInclude(text, '"summary":"')

    const one = structuredClone(document)
    delete one.paths["/api/combos"].post
    assert.deepStrictEqual(contractBreaks(document, one), ["POST /api/combos is gone."])

    const other = JSON.parse(text.replaceAll('"strategy":', '"manner":').replaceAll('"strategy"', '"manner"'))
    assert.match(contractBreaks(document, other).join("\n"), /(?:POST|PUT|PATCH) \/api\/combos.*strategy/)
  })

  it.skipIf(!existsSync(releasedFile))(
    "of the newest release is kept, unless a fragment of the changelog says what breaks",
    () => {
      const breaks = contractBreaks(
        JSON.parse(readFileSync(releasedFile, "utf8")),
        contractOf(JSON.parse(openApiJson()))
      )
      const saysSo = fragmentsIn(root).some(({ kind }) => kind === "breaking" || kind === "removed")
      assert.deepStrictEqual(saysSo ? [] : breaks, [])
    }
  )
})
