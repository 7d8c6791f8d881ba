/** One request that is to stop the process, or to fill its memory. Each must be answered, and the process must go on. */
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { Arena, Gateway } from "../Arena.ts"
import { ask, wires } from "../Asks.ts"
import { type Attempt, type AttackClass, pairs, type Verdict } from "../Attempt.ts"

/** Bodies as text: some are no JSON that a serialiser would write. */
const hostile: Readonly<Record<string, (plain: string) => string>> = {
  "20,000 levels of lists": (plain) => plain.replace(/\}$/, `,"x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`),
  "20,000 levels of objects": (plain) => plain.replace(/\}$/, `,"x":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}`),
  "200,000 keys": (plain) =>
    plain.replace(/\}$/, `,${Array.from({ length: 200_000 }, (_, at) => `"k${at}":1`).join(",")}}`),
  "200,000 keys below a field": (plain) =>
    plain.replace(/\}$/, `,"metadata":{${Array.from({ length: 200_000 }, (_, at) => `"k${at}":"v"`).join(",")}}}`),
  "unclosed levels": (plain) => plain + "[".repeat(50_000),
  "a megabyte of open quotes": (plain) => `${plain.slice(0, -1)},"x":"${"\\u0000".repeat(150_000)}`,
  "a number of a million digits": (plain) => plain.replace(/\}$/, `,"temperature":1${"0".repeat(1_000_000)}}`),
  "a name of 4 MB": (plain) => plain.replace(/"m0del"/, JSON.stringify("m".repeat(4_000_000)))
}

/** Members of a request that are wrong many times over. */
const wrong: Readonly<Record<string, (wire: WireName) => object>> = {
  "a list of wrong messages": (wire) => ({
    [wire === "gemini" ? "contents" : wire === "responses" ? "input" : "messages"]: Array.from(
      { length: 32_000 },
      () => 1
    )
  }),
  "a list of wrong tools": () => ({ tools: Array.from({ length: 32_000 }, () => 0) }),
  "an address with 16,000 dots": (wire) => picture(wire, `http://${"a.".repeat(16_000)}example/x.png`),
  "an address with 64,000 dots": (wire) => picture(wire, `http://${"1.".repeat(64_000)}example/x.png`),
  "an address of 1 MB": (wire) => picture(wire, `http://example/${"%41".repeat(350_000)}`)
}

const picture = (wire: WireName, url: string): object => {
  switch (wire) {
    case "messages":
      return { messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url } }] }] }
    case "responses":
      return { input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] }
    case "gemini":
      return { contents: [{ role: "user", parts: [{ fileData: { mimeType: "image/png", fileUri: url } }] }] }
    case "ollama":
      return { messages: [{ role: "user", content: "Hi", images: [url] }] }
    default:
      return { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] }
  }
}

const headers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "a budget of 15,000 digits": { "x-gateway-budget": "9".repeat(15_000) },
  "a budget of 15,000 zeros": { "x-gateway-budget": `0.${"0".repeat(15_000)}1` },
  "a session of 15,000 letters": { "x-session-id": "s".repeat(15_000) },
  "a mode of 15,000 letters": { "x-gateway-mode": "fast,".repeat(3_000) },
  "an idempotency key of 15,000 letters": { "idempotency-key": "i".repeat(15_000) },
  "a beta header of 3,000 names": { "anthropic-beta": "a-1,".repeat(3_000) },
  "a bearer of 15,000 letters": { authorization: `Bearer ${"k".repeat(15_000)}` },
  "cookies by the thousand": { cookie: Array.from({ length: 2_000 }, (_, at) => `c${at}=1`).join("; ") }
}

const alive = async (gateway: Gateway): Promise<Verdict> => {
  const { status } = await gateway.send({ path: "/api/health/ping" })
  return status === 200 ? null : `the process answers ${status}`
}

/** A hostile body to a model that exists, on another wire too, so that it is read as far as any request is. */
const bodyAttempt = (wire: WireName, name: string, write: (plain: string) => string): Attempt => ({
  name: `${wire}: ${name}`,
  run: async (arena: Arena) => {
    const { open } = arena
    const { body, path } = ask(wire, "m0del")
    const { status, text } = await open.send({
      method: "POST",
      path,
      headers: { "content-type": "application/json" },
      body: write(JSON.stringify(body))
    })
    if (status < 400 || status > 499) return `${status}: ${text.slice(0, 120)}`
    if (text.length > 16_384) return `the error has ${text.length} letters`
    return alive(open)
  }
})

const memberAttempt = (
  wire: WireName,
  upstream: WireName,
  name: string,
  members: (wire: WireName) => object
): Attempt => ({
  name: `${wire} to ${upstream}: ${name}`,
  run: async (arena: Arena) => {
    const { open } = arena
    const { prefix } = await arena.node(open, upstream)
    await arena.connection(open, prefix)
    const { body, path } = ask(wire, `${prefix}/m`)
    const { status, text } = await open.send({
      method: "POST",
      path,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...body, ...members(wire) })
    })
    if (status >= 500) return `${status}: ${text.slice(0, 120)}`
    if (text.length > 16_384) return `the answer has ${text.length} letters`
    return alive(open)
  }
})

const headerAttempt = (wire: WireName, name: string, more: Readonly<Record<string, string>>): Attempt => ({
  name: `${wire}: ${name}`,
  run: async ({ open }: Arena) => {
    const { body, path } = ask(wire, "auto")
    const { status } = await open.send({
      method: "POST",
      path,
      headers: { "content-type": "application/json", ...more },
      body: JSON.stringify(body)
    })
    return status === 500 ? "500" : alive(open)
  }
})

const managementBodies: Readonly<Record<string, unknown>> = {
  "32,000 wrong targets": { name: "c", strategy: "priority", targets: Array.from({ length: 32_000 }, () => 1) },
  "32,000 wrong models": {
    provider: "openai",
    apiKey: "k".repeat(20),
    models: Array.from({ length: 32_000 }, () => 1)
  },
  "a name of a megabyte": { name: "n".repeat(1_000_000), provider: "openai", apiKey: "k".repeat(20) },
  "a nested config": `{"name":"c","strategy":"auto","targets":[],"config":${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}}`
}

const managementAttempt = (path: string, name: string, body: unknown): Attempt => ({
  name: `POST ${path}: ${name}`,
  run: async ({ open }: Arena) => {
    const { status, text } = await open.manage("POST", path, body)
    if (status < 400 || status > 499) return `${status}: ${text.slice(0, 120)}`
    if (text.length > 65_536) return `the error has ${text.length} letters`
    return alive(open)
  }
})

/** Paths that take a JSON body from an administrator. */
const managementPaths = ["/api/providers", "/api/combos", "/api/keys", "/api/provider-nodes", "/api/routing/explain"]

const encodings = ["gzip", "deflate", "br", "zstd", "compress", "gzip, gzip"]

const encodingAttempt = (wire: WireName, encoding: string): Attempt => ({
  name: `${wire}: a body that says it is ${encoding}`,
  run: async ({ open }: Arena) => {
    const { body, path } = ask(wire, "m0del")
    const { status, text } = await open.send({
      method: "POST",
      path,
      headers: { "content-type": "application/json", "content-encoding": encoding },
      body: JSON.stringify(body)
    })
    return status === 415 || status === 400 ? null : `${status}: ${text.slice(0, 120)}`
  }
})

export const bounds: AttackClass = {
  name: "one request against the process",
  atOnce: 2,
  attempts: [
    ...pairs(wires, Object.entries(hostile)).map(([wire, [name, write]]) => bodyAttempt(wire, name, write)),
    ...wires.flatMap((wire) =>
      [wire, wire === "chat" ? "messages" : "chat"].flatMap((upstream) =>
        Object.entries(wrong).map(([name, members]) => memberAttempt(wire, upstream as WireName, name, members))
      )
    ),
    ...pairs(wires, Object.entries(headers)).map(([wire, [name, more]]) => headerAttempt(wire, name, more)),
    ...pairs(managementPaths, Object.entries(managementBodies)).map(([path, [name, body]]) =>
      managementAttempt(path, name, body)
    ),
    ...pairs(wires, encodings).map(([wire, encoding]) => encodingAttempt(wire, encoding))
  ]
}
