/** Addresses and lists of Ollama. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { Declared } from "../../../../src/subjects/declared/Document.ts"
import { addressOfHost, readOllama, usualAddress } from "../../../../src/subjects/declared/imports/Ollama.ts"

describe("the address of an Ollama", () => {
  for (const [given, address] of [
    ["127.0.0.1", usualAddress],
    ["0.0.0.0", usualAddress],
    ["0.0.0.0:8080", "http://127.0.0.1:8080"],
    ["[::]", "http://[::1]:11434"],
    ["box", "http://box:11434"],
    ["http://box:11434/", "http://box:11434"],
    ["https://models.example/ollama/", "https://models.example/ollama"],
    ["", null],
    ["http://", null],
    ["http://me:secret@box", null],
    ["box?key=secret", null]
  ] as const) {
    it(`${given} is ${address}`, () => assert.strictEqual(addressOfHost(given), address))
  }
})

describe("a list of models", () => {
  it("becomes a connection, with each model told", () => {
    const found = readOllama(
      JSON.stringify({ models: [{ name: "llama3.2:3b" }, { name: 5 }, null] }),
      "http://box:11434"
    )
    assert.deepStrictEqual(found?.document, {
      version: 1,
      connections: [{ provider: "ollama", name: "imported", baseUrl: "http://box:11434" }]
    })
    Schema.decodeUnknownSync(Declared)(found?.document)
    assert.deepStrictEqual(
      found?.rows.map(({ result, what }) => `${result}: ${what}`),
      ["changed: http://box:11434", "taken: ollama/llama3.2:3b"]
    )
  })

  it("is told shortly when it is long, and is none when it is something else", () => {
    const models = Array.from({ length: 1_000 }, (_, at) => ({ name: `m${at}` }))
    const found = readOllama(JSON.stringify({ models }), usualAddress)
    assert.lengthOf(found?.rows ?? [], 202)
    assert.deepInclude(found?.rows.at(-1), { what: "800 more models" })
    assert.isNull(readOllama("<html>", usualAddress))
    assert.isNull(readOllama(JSON.stringify({ models: "none" }), usualAddress))
    assert.match(readOllama(JSON.stringify({ models: [] }), usualAddress)?.rows.at(-1)?.reason ?? "", /ollama pull/)
  })
})
