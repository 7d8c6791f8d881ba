import { assert, describe, it } from "@effect/vitest"
import { isHostText } from "../../../src/kernel/text/HostText.ts"

describe("a host alone", () => {
  it.each([
    "proxy",
    "proxy.example.com",
    "proxy.example.com.",
    "my_box",
    "10.0.0.1",
    "::1",
    "[::1]",
    "2606:4700::6810:84e5"
  ])("may be %s", (text) => assert.isTrue(isHostText(text)))

  it.each([
    "",
    "proxy:80",
    "10.0.0.1:80",
    "[::1]:80",
    "cafe.beef:80",
    "::::",
    "[::1",
    "::1]",
    "1:2",
    "a b",
    "http://a",
    "-a"
  ])("is not '%s'", (text) => assert.isFalse(isHostText(text)))
})
