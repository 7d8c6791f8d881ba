import { assert, describe, it } from "@effect/vitest"
import { scrub, secretParts } from "../../../src/kernel/secrets/Scrub.ts"

const key = 'sk-pl"anted/key+7f3a&9c2e='

describe("scrub", () => {
  const forms: Readonly<Record<string, string>> = {
    "as it is": key,
    "JSON-escaped": JSON.stringify(key).slice(1, -1),
    "with escaped slashes": JSON.stringify(key).slice(1, -1).replaceAll("/", "\\/"),
    "percent-encoded": encodeURIComponent(key),
    "percent-encoded in lower case": encodeURIComponent(key).replaceAll(/%../g, (escape) => escape.toLowerCase()),
    "in a form": new URLSearchParams({ k: key }).toString().slice(2),
    "HTML-escaped": key.replaceAll("&", "&amp;").replaceAll('"', "&quot;"),
    base64: Buffer.from(key).toString("base64"),
    "base64 behind another word": Buffer.from(`Bearer ${key}, and more`).toString("base64"),
    "base64 behind a name": Buffer.from(`user:${key}`).toString("base64url")
  }
  for (const [name, form] of Object.entries(forms)) {
    it(`takes a secret out ${name}`, () => {
      const clean = scrub(`Incorrect key provided: '${form}'. Look at "${form}".`, ["other-secret", key])
      assert.notInclude(clean, form)
      assert.include(clean, "[redacted]")
      // Not a large part of it either.
      const parts = form.startsWith("QmVh") ? [form.slice(10, -16)] : [form]
      for (const part of parts) {
        for (let at = 0; at + 12 <= part.length; at += 1) assert.notInclude(clean, part.slice(at, at + 12))
      }
      assert.match(clean, /^Incorrect key provided: '.*'\. Look at ".*"\.$/)
    })
  }

  it("takes a short one out where it is a word of its own, and leaves words whole", () => {
    assert.strictEqual(
      scrub("key 'abc12' is wrong, abc12x is not it", ["abc12"]),
      "key '[redacted]' is wrong, abc12x is not it"
    )
    assert.strictEqual(
      scrub("a key 'a' is no good: Bearer a", ["a"]),
      "a key '[redacted]' is no good: Bearer [redacted]"
    )
    assert.strictEqual(scrub("no key x=q, q", ["q"]), "no key x=[redacted], q")
  })

  it("takes out one whose quotes and slashes were escaped any number of times", () => {
    const secret = 'planted-secret/+"end\\'
    let text = `Bad credential ${secret} given`
    for (let times = 0; times < 4; times += 1) {
      assert.notInclude(scrub(text, [secret]), "planted-secret", `escaped ${times} times`)
      text = JSON.stringify(text)
    }
    assert.notInclude(scrub(`Bad ${secret.replaceAll("/", "\\/")}`, [secret]), "planted-secret")
  })

  it("takes out what is left of one at the end of a text that was cut", () => {
    assert.strictEqual(scrub("Wrong key: sk-planted-upst…", ["sk-planted-upstream-key"]), "Wrong key: [redacted]")
    assert.strictEqual(scrub("Wrong key: sk-planted-upst", ["sk-planted-upstream-key"]), "Wrong key: [redacted]")
    assert.strictEqual(scrub("It is over", ["overcoat-secret"]), "It is over")
  })

  it("takes the longer of two secrets first", () => {
    assert.strictEqual(scrub("is secret-one-two", ["secret-one", "secret-one-two"]), "is [redacted]")
  })

  it("does nothing without secrets", () => {
    assert.strictEqual(scrub("text", []), "text")
    assert.strictEqual(scrub("text", ["", " "]), "text")
  })
})

describe("secretParts", () => {
  it("knows the schemes of credentials, and cookies", () => {
    assert.include(secretParts("Bearer abcdefghij"), "abcdefghij")
    assert.include(secretParts(`Basic ${Buffer.from("me:pass-word").toString("base64")}`), "pass-word")
    assert.include(secretParts("session=0123456789abc; path=/"), "0123456789abc")
    assert.deepStrictEqual(secretParts("plain"), ["plain"])
  })
})
