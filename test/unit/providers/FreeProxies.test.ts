import { assert, describe, it } from "@effect/vitest"
import { addressIn, familyOf } from "../../../src/net/egress/proxy/EgressAddress.ts"
import { readList } from "../../../src/plane/providers/FreeProxies.ts"

describe("a list of free proxies", () => {
  it("names proxies in several forms, each once", () => {
    const text = [
      "203.0.113.7:8080",
      "socks5://203.0.113.8:1080",
      "SOCKS5H://proxy.example:1081  DE elite",
      "https://[2001:db8::1]:3128,anonymous",
      "203.0.113.7:8080",
      "# a comment",
      "no port",
      "ftp://203.0.113.9:21",
      "203.0.113.10:0",
      "203.0.113.10:65536",
      "user:password@203.0.113.11:80",
      ""
    ].join("\r\n")
    assert.deepStrictEqual(readList(text), [
      { type: "http", host: "203.0.113.7", port: 8080 },
      { type: "socks5", host: "203.0.113.8", port: 1080 },
      { type: "socks5", host: "proxy.example", port: 1081 },
      { type: "http", host: "2001:db8::1", port: 3128 }
    ])
  })

  it("is read up to its limits", () => {
    const many = Array.from({ length: 20_000 }, (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}:80`)
    assert.lengthOf(readList(many.join("\n")), 5_000)
    assert.deepStrictEqual(readList("a".repeat(1_000_000)), [])
    assert.deepStrictEqual(readList(`${" ".repeat(1_000)}10.0.0.1:80`), [])
  })
})

describe("the address of an answer", () => {
  const answers: ReadonlyArray<readonly [string, string | null, string | null]> = [
    ["203.0.113.7\n", "203.0.113.7", "ipv4"],
    [`{"ip":"2001:db8::1"}`, "2001:db8::1", "ipv6"],
    [`{"origin": "203.0.113.7"}`, "203.0.113.7", "ipv4"],
    [`{"ip":"999.1.1.1"}`, null, null],
    ["<html>203.0.113.7</html>", null, null],
    ["", null, null]
  ]
  it.each(answers)("%s", (body, address, family) => {
    assert.strictEqual(addressIn(Buffer.from(body)), address)
    assert.strictEqual(familyOf(address), family)
  })
})
