/** Variables of the environment as a declared document. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { Declared } from "../../../../src/subjects/declared/Document.ts"
import { readEnvironment } from "../../../../src/subjects/declared/imports/Environment.ts"

const providers = [
  { id: "openai", env: ["OPENAI_API_KEY"] },
  { id: "gemini", env: ["GEMINI_API_KEY", "GOOGLE_API_KEY"] },
  { id: "groq", env: ["GROQ_API_KEY"] }
]

const read = (values: Readonly<Record<string, string>>) =>
  readEnvironment(new Map(Object.entries(values)), providers, (value) => value.startsWith("gateway-"))

describe("an environment", () => {
  it("becomes connections that refer to its variables, and shows no value", () => {
    const found = read({
      OPENAI_API_KEY: "secret-1",
      OPENAI_BASE_URL: "http://127.0.0.1:9/v1/",
      GEMINI_API_KEY: " ",
      GOOGLE_API_KEY: "secret-2",
      GROQ_API_KEY: "gateway-secret",
      STRANGE_API_KEY: "secret-3",
      HOME: "/secret"
    })
    assert.deepStrictEqual(found.document, {
      version: 1,
      connections: [
        { provider: "openai", name: "imported", apiKey: "${OPENAI_API_KEY}", baseUrl: "http://127.0.0.1:9/v1" },
        { provider: "gemini", name: "imported", apiKey: "${GOOGLE_API_KEY}" }
      ]
    })
    Schema.decodeUnknownSync(Declared)(found.document)
    assert.deepStrictEqual(
      found.rows.map(({ result, what }) => `${result}: ${what}`),
      [
        "changed: OPENAI_API_KEY (openai)",
        "taken: GOOGLE_API_KEY (gemini)",
        "left out: GROQ_API_KEY (groq)",
        "left out: STRANGE_API_KEY"
      ]
    )
    assert.notInclude(JSON.stringify(found), "secret")
  })

  it("adds the version's path that Anthropic's variable does not have", () => {
    for (const address of ["http://a:1", "http://a:1/", "http://a:1/v1"]) {
      const values = new Map([
        ["ANTHROPIC_API_KEY", "x"],
        ["ANTHROPIC_BASE_URL", address]
      ])
      const { document } = readEnvironment(values, [{ id: "anthropic", env: ["ANTHROPIC_API_KEY"] }], () => false)
      assert.include(JSON.stringify(document), '"http://a:1/v1"')
    }
  })

  it("sends a key nowhere else when its address cannot be used", () => {
    for (const address of ["nowhere", "file:///etc", "http://user:secret@host/v1", "http://host/v1?key=secret"]) {
      const { document, rows } = read({ OPENAI_API_KEY: "secret-1", OPENAI_BASE_URL: address })
      assert.deepStrictEqual(document, { version: 1 })
      assert.notInclude(JSON.stringify(rows), "secret")
    }
  })

  it("goes on to the next variable behind a key of a gateway, and tells of an address without a key", () => {
    const { document, rows } = read({
      GEMINI_API_KEY: "gateway-secret",
      GOOGLE_API_KEY: "secret-2",
      OPENAI_BASE_URL: "http://a:1"
    })
    assert.deepStrictEqual(document["connections"], [
      { provider: "gemini", name: "imported", apiKey: "${GOOGLE_API_KEY}" }
    ])
    assert.deepStrictEqual(
      rows.map(({ result, what }) => `${result}: ${what}`),
      ["left out: OPENAI_BASE_URL (openai)", "left out: GEMINI_API_KEY (gemini)", "taken: GOOGLE_API_KEY (gemini)"]
    )
  })
})
