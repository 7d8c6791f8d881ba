import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { cleanKey } from "../../../src/cli/asking/providerKey.ts"

const key = "sk-proj-aZ09_-+/=.key"

describe("cleanKey", () => {
  it.each([
    key,
    `  ${key}\r\n`,
    `"${key}"`,
    `'${key}',`,
    `“${key}”`,
    `Bearer ${key}`,
    `bearer   ${key}\n`,
    `Authorization: Bearer ${key}`,
    `x-api-key: ${key}`,
    `OPENAI_API_KEY=${key}`,
    `export ANTHROPIC_API_KEY="${key}";\n`,
    `\u{FEFF}${key}\u{200B}`
  ])("takes off what can be no part of a key: %j", (pasted) => {
    assert.deepStrictEqual(cleanKey(pasted), Either.right(key))
  })

  it.each([
    ["", "empty"],
    [' "" ', "empty"],
    ["Bearer ", "empty"],
    ["sk-one\nsk-two", "space or a line end"],
    ["sk-one two", "space or a line end"],
    ["sk-…abcd", "shortened"],
    ["sk-***abcd", "shortened"],
    ["sk-abc...xyz", "shortened"],
    ["sk-abc–def", "no key has"],
    ["sk-\u0007abc", "no key has"],
    ["gw_0123456789", "gateway"],
    [`"Bearer gw_0123456789"`, "gateway"],
    ["x".repeat(9000), "longer"]
  ])("refuses what is no key, and does not repeat it: %j", (pasted, words) => {
    const problem = Either.getOrElse(Either.flip(cleanKey(pasted)), () => "")
    assert.include(problem, words)
    assert.notInclude(problem, "abc")
  })

  it("keeps the file of a service account whole", () => {
    const account = `{"type":"service_account","private_key":"-----BEGIN KEY-----\\nab cd\\n"}`
    assert.deepStrictEqual(cleanKey(`${account}\n`), Either.right(account))
  })

  it("leaves signs at the end of a key that may be part of it", () => {
    for (const exact of ["AbC123==", "TOKEN=", "a=b"]) assert.deepStrictEqual(cleanKey(exact), Either.right(exact))
  })
})
