/** Claims of an ID token, completed by the user information. */
import { assert, describe, it } from "@effect/vitest"
import { completed } from "../../../src/subjects/signIn/ReadClaims.ts"

describe("the user information", () => {
  it("adds what the ID token does not say, and changes nothing that it says", () => {
    const claims = completed(
      { sub: "1", name: "Ada" },
      { sub: "1", name: "Eve", email: "a@b.example", email_verified: true }
    )
    assert.deepStrictEqual(claims, { sub: "1", name: "Ada", email: "a@b.example", email_verified: true })
  })

  it("says that an address is verified of the same address only", () => {
    const more = { email: "eve@evil.example", email_verified: true }
    assert.isUndefined(completed({ email: "boss@b.example" }, more)["email_verified"])
    assert.isTrue(completed({ email: "boss@b.example", email_verified: true }, more)["email_verified"])
    assert.isTrue(completed({ email: "eve@evil.example" }, more)["email_verified"])
    assert.isFalse(completed({ email: "eve@evil.example", email_verified: false }, more)["email_verified"])
  })
})
