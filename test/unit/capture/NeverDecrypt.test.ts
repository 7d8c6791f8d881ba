import { assert, describe, it } from "@effect/vitest"
import { neverDecrypt, readPattern } from "../../../src/observe/capture/NeverDecrypt.ts"

describe("hosts that are never decrypted", () => {
  it.each([
    ["www.bank.example", true],
    ["login.okta.com", true],
    ["okta.com", true],
    ["notokta.com", false],
    ["tax.gov", true],
    ["tax.gov.uk", true],
    ["AUTH0.COM", true],
    ["api.openai.com", false],
    ["a.intranet.example", true],
    ["intranet.example", false]
  ])("%s: %s", (host, isNever) => {
    assert.strictEqual(neverDecrypt(["*.intranet.example"])(host), isNever)
  })

  it.each([
    ["  A.Example ", "a.example"],
    ["", null],
    ["a b", null],
    ["https://a.example", null],
    ["*".repeat(9), null],
    ["*".repeat(8), "*".repeat(8)],
    ["a".repeat(254), null]
  ])("reads the pattern %j as %j", (text, pattern) => {
    const read = readPattern(text)
    assert.strictEqual(read.ok ? read.pattern : null, pattern)
  })
})
