import { assert, describe, it } from "@effect/vitest"
import { hostPattern } from "../../../src/cli/flags/serveOptions.ts"
import { addressOf, bareHost, isLoopbackHost } from "../../../src/kernel/BindAddress.ts"

describe("an address to listen on", () => {
  for (const [given, bare, url] of [
    ["[::1]", "::1", "http://[::1]:80"],
    ["::1", "::1", "http://[::1]:80"],
    ["[::]", "::", "http://[::1]:80"],
    ["[fe80::1%eth0]", "fe80::1%eth0", "http://[fe80::1%eth0]:80"],
    ["localhost", "localhost", "http://localhost:80"],
    [" 127.0.0.1", "127.0.0.1", "http://127.0.0.1:80"]
  ] as const) {
    it(`${given} is ${bare}`, () => {
      assert.strictEqual(bareHost(given), bare)
      assert.strictEqual(addressOf(given, 80), url)
      assert.isTrue(hostPattern.test(given.trim()))
    })
  }

  it("in brackets is of this machine all the same", () => assert.isTrue(isLoopbackHost(bareHost("[::1]"))))

  for (const wrong of ["[::1", "::1]", "[]", "[ ]", "a b"]) {
    it(`'${wrong}' is none`, () => assert.isFalse(hostPattern.test(wrong)))
  }
})
