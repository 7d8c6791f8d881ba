import { assert, describe, it } from "@effect/vitest"
import { formatKey } from "../../../src/subjects/auth/KeyFormat.ts"
import { withoutKeys } from "../../../src/kernel/secrets/KeyShapes.ts"
import { maskSecret } from "../../../src/kernel/text/Masking.ts"

describe("withoutKeys", () => {
  it("removes what looks like a credential, and leaves the text around it", () => {
    const own = formatKey(new Uint8Array(32).fill(3))
    const registered = formatKey(new Uint8Array(32).fill(4), "gwr_")
    for (const secret of [
      own,
      registered,
      "sk-proj-abcdefghijklmnopqrstu",
      "github_pat_11ABCDEFG0abcdefghijklmnop",
      "AIzaSyA-1234567890abcdefghijklmnopq",
      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_DEF-123"
    ]) {
      assert.strictEqual(withoutKeys(`before ${secret}, "after"`), 'before [redacted], "after"')
    }
    assert.strictEqual(withoutKeys("authorization: Bearer abcdefghijklmnop1234"), "authorization: Bearer [redacted]")
  })

  it("leaves ordinary text, ids and codes as they are", () => {
    const text =
      "The key-value store of openai/gpt-4o answered PROVIDER_QUOTA_EXCEEDED for 019aa6ee-5c00-7000-8f3e-1f0c9d2b7a64; a token limit; basic things."
    assert.strictEqual(withoutKeys(text), text)
  })
})

describe("maskSecret", () => {
  it("shows which kind of gateway key it is", () => {
    assert.match(maskSecret(formatKey(new Uint8Array(32))), /^gw_….{4}$/)
    assert.match(maskSecret(formatKey(new Uint8Array(32), "gwr_")), /^gwr_….{4}$/)
  })
})
