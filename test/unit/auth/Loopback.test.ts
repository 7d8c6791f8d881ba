import { assert, describe, it } from "@effect/vitest"
import { isLoopback } from "../../../src/subjects/auth/Loopback.ts"

const host = "localhost:20128"

describe("Loopback", () => {
  for (const address of ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"]) {
    it(`${address} is this machine`, () => assert.isTrue(isLoopback(address, { host })))
  }
  for (const address of ["10.0.0.1", "::ffff:10.0.0.1", "1127.0.0.1", "127.0.0.1.evil.example", "", null]) {
    it(`${address} is not`, () => assert.isFalse(isLoopback(address, { host })))
  }
  for (const header of ["x-forwarded-for", "forwarded", "via", "cf-connecting-ip", "x-real-ip"]) {
    it(`a request with ${header} is not from this machine`, () =>
      assert.isFalse(isLoopback("127.0.0.1", { host, [header]: "127.0.0.1" })))
  }
  for (const foreign of ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:20128", undefined]) {
    it(`Host ${foreign} is refused`, () => assert.isFalse(isLoopback("127.0.0.1", { host: foreign })))
  }
  for (const own of ["localhost", "127.0.0.1:1", "[::1]:20128"]) {
    it(`Host ${own} is ours`, () => assert.isTrue(isLoopback("127.0.0.1", { host: own })))
  }
})
