import { assert, describe, it } from "@effect/vitest"
import {
  judgeAddress,
  judgeHost,
  judgeUrl,
  providerPolicy,
  type OutboundPolicy,
  type UrlVerdict,
  type Verdict
} from "../../../src/net/egress/OutboundPolicy.ts"

const open: OutboundPolicy = { allowLoopback: true, allowPrivate: true }
const publicOnly: OutboundPolicy = { allowLoopback: false, allowPrivate: false }
const word = (verdict: Verdict | UrlVerdict): string => (verdict._tag === "Allowed" ? "allowed" : verdict.reason)

describe("judgeAddress", () => {
  it.each<[address: string, whenOpen: string, whenPublicOnly: string]>([
    ["8.8.8.8", "allowed", "allowed"],
    ["2606:4700::1111", "allowed", "allowed"],
    ["127.0.0.1", "allowed", "private"],
    ["::1", "allowed", "private"],
    ["10.1.2.3", "allowed", "private"],
    ["172.31.255.255", "allowed", "private"],
    ["172.32.0.1", "allowed", "allowed"],
    ["192.168.1.1", "allowed", "private"],
    ["100.64.0.1", "allowed", "private"],
    ["198.18.0.1", "allowed", "private"],
    // Reserved, for documentation, or for machines between networks: no host answers there.
    ["240.0.0.1", "unroutable", "unroutable"],
    ["255.255.255.254", "unroutable", "unroutable"],
    ["0.1.2.3", "unroutable", "unroutable"],
    ["192.0.0.9", "unroutable", "unroutable"],
    ["192.0.2.1", "unroutable", "unroutable"],
    ["192.31.196.1", "unroutable", "unroutable"],
    ["192.52.193.1", "unroutable", "unroutable"],
    ["192.88.99.1", "unroutable", "unroutable"],
    ["192.175.48.1", "unroutable", "unroutable"],
    ["198.51.100.1", "unroutable", "unroutable"],
    ["203.0.113.1", "unroutable", "unroutable"],
    ["100::1", "unroutable", "unroutable"],
    ["100:0:0:1::1", "unroutable", "unroutable"],
    ["2001:2::1", "unroutable", "unroutable"],
    ["2001:20::1", "unroutable", "unroutable"],
    ["2001:30::1", "unroutable", "unroutable"],
    ["2001:db8::1", "unroutable", "unroutable"],
    ["2620:4f:8000::1", "unroutable", "unroutable"],
    ["3fff::1", "unroutable", "unroutable"],
    ["5f00::1", "unroutable", "unroutable"],
    ["4000::1", "unroutable", "unroutable"],
    ["::ffff:0:1.2.3.4", "unroutable", "unroutable"],
    ["::ffff:240.0.0.1", "unroutable", "unroutable"],
    ["64:ff9b::240.0.0.1", "unroutable", "unroutable"],
    ["2002:f000:1::", "unroutable", "unroutable"],
    ["2001:0:f000:1::", "unroutable", "unroutable"],
    ["fd12::1", "allowed", "private"],
    ["fec0::1", "allowed", "private"],
    ["0.0.0.0", "unroutable", "unroutable"],
    ["::", "unroutable", "unroutable"],
    ["224.0.0.1", "unroutable", "unroutable"],
    ["255.255.255.255", "unroutable", "unroutable"],
    ["ff02::1", "unroutable", "unroutable"],
    ["2001::1", "unroutable", "unroutable"],
    ["64:ff9b:1::1", "unroutable", "unroutable"],
    ["169.254.169.254", "metadata", "metadata"],
    ["169.254.170.2", "metadata", "metadata"],
    ["100.100.100.200", "metadata", "metadata"],
    ["168.63.129.16", "metadata", "metadata"],
    ["192.0.0.192", "metadata", "metadata"],
    ["fd00:ec2::254", "metadata", "metadata"],
    ["fe80::1", "metadata", "metadata"],
    // IPv4 in disguise is judged as what it is.
    ["::ffff:8.8.8.8", "allowed", "allowed"],
    ["::ffff:127.0.0.1", "allowed", "private"],
    ["::ffff:a9fe:a9fe", "metadata", "metadata"],
    ["::127.0.0.1", "allowed", "private"],
    ["::a9fe:a9fe", "metadata", "metadata"],
    ["64:ff9b::8.8.8.8", "allowed", "allowed"],
    ["64:ff9b::a9fe:a9fe", "metadata", "metadata"],
    ["64:ff9b::10.0.0.1", "allowed", "private"],
    ["2002:a9fe:a9fe::1", "metadata", "metadata"],
    ["2002:7f00:1::", "allowed", "private"],
    ["2002:808:808::", "allowed", "allowed"],
    // Only the usual text form is an address.
    ["0x7f.0.0.1", "syntax", "syntax"],
    ["2130706433", "syntax", "syntax"],
    ["0177.0.0.1", "syntax", "syntax"],
    ["127.1", "syntax", "syntax"],
    ["", "syntax", "syntax"]
  ])("%s", (address, whenOpen, whenPublicOnly) => {
    assert.strictEqual(word(judgeAddress(address, open)), whenOpen)
    assert.strictEqual(word(judgeAddress(address, publicOnly)), whenPublicOnly)
  })
})

describe("judgeHost", () => {
  it.each<[host: string, whenOpen: string, whenPublicOnly: string]>([
    ["api.example.com", "allowed", "allowed"],
    ["localhost", "allowed", "private"],
    ["LOCALHOST.", "allowed", "private"],
    ["a.localhost", "allowed", "private"],
    ["nas.local", "allowed", "private"],
    ["db.internal", "allowed", "private"],
    ["internal.example.com", "allowed", "allowed"],
    ["metadata.google.internal", "metadata", "metadata"],
    ["Metadata.Google.Internal.", "metadata", "metadata"],
    ["metadata.goog", "metadata", "metadata"],
    ["instance-data", "metadata", "metadata"],
    ["[::1]", "allowed", "private"],
    ["[fe80::1]", "metadata", "metadata"],
    ["169.254.169.254.", "metadata", "metadata"],
    ["", "syntax", "syntax"],
    [".", "syntax", "syntax"],
    ["metadata.google.internal..", "syntax", "syntax"],
    [".".repeat(16_000), "syntax", "syntax"]
  ])("%s", (host, whenOpen, whenPublicOnly) => {
    assert.strictEqual(word(judgeHost(host, open)), whenOpen)
    assert.strictEqual(word(judgeHost(host, publicOnly)), whenPublicOnly)
  })
})

describe("judgeUrl", () => {
  it.each<[url: string, verdict: string]>([
    ["https://api.example.com/v1", "allowed"],
    ["http://api.example.com:8080", "allowed"],
    [`https://api.example.com/${"a".repeat(8168)}`, "allowed"],
    [`https://api.example.com/${"a".repeat(8169)}`, "length"],
    [`https://${"a.".repeat(64_000)}`, "length"],
    ["http://127.0.0.1:11434/v1", "private"],
    ["http://2130706433/", "private"],
    ["http://0x7f000001/", "private"],
    ["http://0177.0.0.1/", "private"],
    ["http://127.1/", "private"],
    ["http://127.0.0.1./", "private"],
    ["http://１２７.0.0.1/", "private"],
    ["http://[::ffff:127.0.0.1]/", "private"],
    ["http://localhost./", "private"],
    ["http://0/", "unroutable"],
    ["http://0xa9fea9fe/latest/meta-data", "metadata"],
    ["http://[::ffff:169.254.169.254]/", "metadata"],
    ["ftp://api.example.com", "scheme"],
    ["file:///etc/passwd", "scheme"],
    ["https://user@api.example.com", "user_info"],
    ["https://:secret@api.example.com", "user_info"],
    ["https://api.example.com/#x", "fragment"],
    ["https://api.example.com/#", "fragment"],
    ["api.example.com", "syntax"],
    ["/v1", "syntax"],
    ["", "syntax"]
  ])("%s", (url, verdict) => assert.strictEqual(word(judgeUrl(url, publicOnly)), verdict))
})

describe("providerPolicy", () => {
  const guard = "OUTBOUND_SSRF_GUARD_ENABLED"
  const local = "GATEWAY_ALLOW_LOCAL_PROVIDER_URLS"
  const network = "GATEWAY_ALLOW_PRIVATE_PROVIDER_URLS"
  it.each<[on: ReadonlyArray<string>, allowLoopback: boolean, allowPrivate: boolean]>([
    [[guard, local], true, true],
    [[guard, local, network], true, true],
    [[guard, network], false, true],
    [[guard], false, false],
    [[], true, true]
  ])("%j", (on, allowLoopback, allowPrivate) =>
    assert.deepStrictEqual(
      providerPolicy((flag) => on.includes(flag)),
      { allowLoopback, allowPrivate }
    )
  )

  const networkOnly: OutboundPolicy = { allowLoopback: false, allowPrivate: true }
  it.each([
    ["127.0.0.1", "private"],
    ["127.8.8.8", "private"],
    ["::1", "private"],
    ["::ffff:127.0.0.1", "private"],
    ["localhost", "private"],
    ["ollama.localhost", "private"],
    ["0.0.0.0", "unroutable"],
    ["169.254.169.254", "metadata"],
    ["10.0.0.5", "allowed"],
    ["192.168.1.5", "allowed"],
    ["100.64.0.5", "allowed"],
    ["fd12::5", "allowed"],
    ["nas.local", "allowed"]
  ])("the private flag alone: %s", (host, verdict) => assert.strictEqual(word(judgeHost(host, networkOnly)), verdict))
})
