/** The gateway is to fetch from its own machine or network what it would not show the caller. */
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { Arena } from "../Arena.ts"
import { ask } from "../Asks.ts"
import { type Attempt, type AttackClass, pairs } from "../Attempt.ts"

/** Spellings of this machine; the trap listens on 127.0.0.1, so that a fetch that is let through is seen and goes no further. */
const addresses: ReadonlyArray<(port: number) => string> = [
  (port) => `http://127.0.0.1:${port}/x.png`,
  (port) => `http://localhost:${port}/x.png`,
  (port) => `http://LOCALHOST:${port}/x.png`,
  (port) => `http://localhost.:${port}/x.png`,
  (port) => `http://127.1:${port}/x.png`,
  (port) => `http://127.0.1:${port}/x.png`,
  (port) => `http://2130706433:${port}/x.png`,
  (port) => `http://0x7f000001:${port}/x.png`,
  (port) => `http://0x7f.0.0.1:${port}/x.png`,
  (port) => `http://0177.0.0.1:${port}/x.png`,
  (port) => `http://017700000001:${port}/x.png`,
  (port) => `http://0.0.0.0:${port}/x.png`,
  (port) => `http://0:${port}/x.png`,
  (port) => `http://[::1]:${port}/x.png`,
  (port) => `http://[::]:${port}/x.png`,
  (port) => `http://[::ffff:127.0.0.1]:${port}/x.png`,
  (port) => `http://[::ffff:7f00:1]:${port}/x.png`,
  (port) => `http://[0:0:0:0:0:ffff:127.0.0.1]:${port}/x.png`,
  (port) => `http://[64:ff9b::7f00:1]:${port}/x.png`,
  (port) => `http://user@127.0.0.1:${port}/x.png`,
  (port) => `http://example.com@127.0.0.1:${port}/x.png`,
  (port) => `http://①②⑦.0.0.1:${port}/x.png`,
  (port) => `http://127。0。0。1:${port}/x.png`,
  (port) => `http:\\\\127.0.0.1:${port}\\x.png`,
  (port) => ` http://127.0.0.1:${port}/x.png`,
  (port) => `http://127.0.0.1:${port}/x.png#.example.com`,
  (port) => `file:///etc/passwd?${port}`,
  (port) => `ftp://127.0.0.1:${port}/x.png`,
  (port) => `gopher://127.0.0.1:${port}/x`,
  (port) => `//127.0.0.1:${port}/x.png`
]

interface Way {
  readonly client: WireName
  /** Takes pictures only as bytes, so that the gateway has to fetch. */
  readonly upstream: WireName
  readonly members: (url: string) => object
}

const ways: ReadonlyArray<Way> = [
  {
    client: "chat",
    upstream: "ollama",
    members: (url) => ({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] })
  },
  {
    client: "messages",
    upstream: "gemini",
    members: (url) => ({ messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url } }] }] })
  },
  {
    client: "responses",
    upstream: "ollama",
    members: (url) => ({ input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] })
  },
  {
    client: "chat",
    upstream: "gemini",
    members: (url) => ({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] })
  }
]

const attempt = (way: Way, index: number, addressOf: (port: number) => string): Attempt => ({
  name: `${way.client} to ${way.upstream}: address ${index}`,
  run: async (arena: Arena) => {
    const { open, trap } = arena
    const { prefix } = await arena.node(open, way.upstream)
    await arena.connection(open, prefix)
    const word = arena.fresh("word")
    const { body, path } = ask(way.client, `${prefix}/m`)
    await open.send({
      method: "POST",
      path,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...body, ...way.members(addressOf(trap.port).replace("/x.png", `/${word}.png`)) })
    })
    const fetched = trap.requests.find(({ url }) => url.includes(word))
    if (fetched !== undefined) return `fetched ${fetched.url}`
    const sent = arena.asked(prefix).find(({ body: seen }) => seen.includes("root:x:"))
    return sent === undefined ? null : "a file of this machine was sent"
  }
})

export const outbound: AttackClass = {
  name: "fetches from inside",
  atOnce: 4,
  attempts: pairs(
    ways,
    addresses.map((addressOf, index) => [index, addressOf] as const)
  ).map(([way, [index, addressOf]]) => attempt(way, index, addressOf))
}
