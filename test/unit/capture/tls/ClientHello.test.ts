import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { connect, type ConnectionOptions } from "node:tls"
import { certificateName } from "../../../../src/observe/capture/tls/CertificateName.ts"
import { maxHelloBytes, type Read, readClientHello } from "../../../../src/observe/capture/tls/ClientHello.ts"
import { judgeFirstBytes } from "../../../../src/observe/capture/tls/FirstBytes.ts"
import { helloOf, recordsOf } from "./hellos.ts"

/** What Node's own client sends first. */
const realHello = async (options: ConnectionOptions) => {
  const server = createServer()
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const accepted = once(server, "connection")
  const client = connect({ host: "127.0.0.1", port, ...options })
  client.on("error", () => {})
  const [socket] = (await accepted) as [Socket]
  const [bytes] = (await once(socket, "data")) as [Buffer]
  client.destroy()
  socket.destroy()
  server.close()
  return bytes
}

/** Without the client, which is a hash. */
const known = (read: Read): object => {
  if (read._tag !== "Hello") return read
  const { client, ...others } = read
  assert.match(client, /^[\w+/]{16}$/)
  return others
}

describe("ClientHello", () => {
  it("tells clients apart, and knows one again whatever it asks for", async () => {
    const clientOf = async (options: ConnectionOptions): Promise<string> => {
      const read = readClientHello(await realHello(options))
      return read._tag === "Hello" ? read.client : assert.fail(read._tag)
    }
    const usual = await clientOf({ servername: "api.example.com" })
    assert.strictEqual(await clientOf({ servername: "another.example" }), usual)
    assert.strictEqual(await clientOf({}), usual)
    assert.notStrictEqual(await clientOf({ ciphers: "ECDHE-RSA-AES128-GCM-SHA256" }), usual)
    assert.notStrictEqual(await clientOf({ ALPNProtocols: ["h2"] }), usual)
  })

  it("reads the server name and the protocols of a real client", async () => {
    const bytes = await realHello({ servername: "api.example.com", ALPNProtocols: ["h2", "http/1.1"] })
    assert.deepStrictEqual(known(readClientHello(bytes)), {
      _tag: "Hello",
      serverName: "api.example.com",
      protocols: ["h2", "http/1.1"]
    })
  })

  it("finds no name and no protocols where a client sends none", async () => {
    const bytes = await realHello({})
    assert.deepStrictEqual(known(readClientHello(bytes)), { _tag: "Hello", serverName: null, protocols: [] })
  })

  it("asks for more at every cut, and never reads something else out of a part", () => {
    const bytes = helloOf({ serverName: "api.example.com", protocols: ["http/1.1"] })
    const whole = readClientHello(bytes)
    assert.strictEqual(whole._tag, "Hello")
    for (let size = 0; size < bytes.length; size += 1) {
      const read = readClientHello(bytes.subarray(0, size))
      assert.strictEqual(read._tag, "More", `after ${size} bytes`)
      if (read._tag === "More") assert.isTrue(read.atLeast > size && read.atLeast <= bytes.length)
    }
  })

  it("puts a hello together that comes in several records, up to a bound", () => {
    const hello = { serverName: "api.example.com", protocols: [] }
    assert.deepStrictEqual(known(readClientHello(recordsOf(helloOf(hello), 40))), { _tag: "Hello", ...hello })
    assert.strictEqual(readClientHello(recordsOf(helloOf(hello), 1))._tag, "Unreadable")
  })

  it("reads names in lower case and without the last dot", () => {
    const read = readClientHello(helloOf({ serverName: "API.Example.COM.", protocols: [] }))
    assert.deepStrictEqual(known(read), { _tag: "Hello", serverName: "api.example.com", protocols: [] })
  })

  it.each([
    ["300 bytes", "a".repeat(300)],
    ["300 bytes in labels", "a.".repeat(150)],
    ["a line feed", "api.example.com\nHost: other"],
    ["a zero byte", "api.example.com\0.other"],
    ["a slash", "../../etc/passwd"],
    ["a star", "*.example.com"],
    ["an empty label", "api..example.com"],
    ["nothing", ""],
    ["bytes above ASCII", "\u00e4pi.example.com"]
  ])("refuses a server name of %s", (_, serverName) => {
    assert.deepStrictEqual(readClientHello(helloOf({ serverName, protocols: [] })), { _tag: "BadName" })
  })

  it("refuses what is longer than a hello may be", () => {
    const bytes = helloOf({ serverName: "a.example", protocols: [] })
    bytes.writeUIntBE(maxHelloBytes + 1, 6, 3)
    assert.strictEqual(readClientHello(bytes)._tag, "Unreadable")
  })

  it("never throws and never waits for more than it reads at most, whatever byte is changed", () => {
    const bytes = helloOf({ serverName: "api.example.com", protocols: ["h2"] })
    for (let at = 0; at < bytes.length; at += 1) {
      for (const value of [0, 1, 127, 255]) {
        const changed = Buffer.from(bytes)
        changed[at] = value
        const read = readClientHello(changed)
        if (read._tag === "More") assert.isAtMost(read.atLeast, 2 * maxHelloBytes)
      }
    }
  })
})

describe("certificateName", () => {
  it("takes host names and IP addresses", () => {
    assert.strictEqual(certificateName("My_Host.example"), "my_host.example")
    assert.strictEqual(certificateName("localhost"), "localhost")
    assert.strictEqual(certificateName("192.0.2.1"), "192.0.2.1")
    assert.strictEqual(certificateName("2001:db8::1"), "2001:db8::1")
    assert.strictEqual(certificateName("-a.example"), null)
    assert.strictEqual(certificateName(`${"a".repeat(64)}.example`), null)
  })
})

describe("first bytes", () => {
  it.each([
    ["GET / HTTP/1.1\r\n", "Http"],
    ["PROPFIND /x HTTP/1.1\r\n", "Http"],
    ["SSH-2.0-OpenSSH_9", "Other"],
    ["GET/", "Other"],
    ["A".repeat(25), "Other"],
    [" GET / HTTP/1.1", "Other"],
    ["get / HTTP/1.1", "Other"],
    ["GE", "More"],
    ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "Http2"],
    ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04", "Http2"],
    ["PRI * HTTP/2.0\r\n\r\n", "More"],
    ["PRI * HTTP/1.1\r\nHost: x\r\n\r\n", "Http"],
    ["\x00\x01", "Other"]
  ])("takes %j for %s", (text, expected) => {
    assert.strictEqual(judgeFirstBytes(Buffer.from(text, "latin1"))._tag, expected)
  })

  it("takes a record that is no hello for something else", () => {
    assert.strictEqual(judgeFirstBytes(Buffer.from("160301000a02000006", "hex"))._tag, "More")
    assert.strictEqual(judgeFirstBytes(Buffer.from("160301000402000000", "hex"))._tag, "Other")
  })
})
