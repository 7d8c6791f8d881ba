/** Fills a gateway with hostile texts through every way that others have: the API, an upstream's answers, a client's requests, a HAR file. */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { once } from "node:events"
import { assert } from "vitest"
import { adminKey } from "./world.ts"

/** A server that must never be asked. */
export const startTrap = async () => {
  const asked: Array<string> = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? "")
    response.end("")
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    stop: (): void => {
      server.closeAllConnections()
      server.close()
    }
  }
}

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { "Content-Type": "application/json", ...headers })
  response.end(JSON.stringify(body))
}

/** An upstream whose models, answers and errors are hostile: `p-07` answers with the seventh text, `e-07` fails with it. */
export const startHostileUpstream = async (payloads: ReadonlyArray<string>) => {
  const server = createServer((request, response) => {
    let text = ""
    request.on("data", (chunk: Buffer) => (text += chunk.toString()))
    request.on("end", () => {
      if (request.url?.endsWith("/models") === true) {
        return json(response, 200, { object: "list", data: payloads.map((id) => ({ id, owned_by: id })) })
      }
      const { model = "" } = JSON.parse(text) as { readonly model?: string }
      const payload = payloads[Number(model.slice(2))] ?? payloads.join(" ")
      if (model.startsWith("e-")) {
        return json(response, 400, { error: { message: payload, type: payload, code: payload, param: payload } })
      }
      return json(response, 200, {
        id: payload,
        object: "chat.completion",
        created: 1,
        model: payload,
        choices: [
          {
            index: 0,
            message: {
              role: "assistant",
              content: payload,
              tool_calls: [{ id: payload, type: "function", function: { name: payload, arguments: "{}" } }]
            },
            finish_reason: "stop"
          }
        ],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
      })
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop: (): void => {
      server.closeAllConnections()
      server.close()
    }
  }
}

type Body = Readonly<Record<string, unknown>>

/** What an administrator can name freely. `some`: texts for one of each; `all` gets every text. */
const named = (
  upstream: string
): Readonly<Record<string, (text: string, nth: number) => readonly [string, string, Body]>> => ({
  connections: (name, nth) => [
    "POST",
    "/api/providers",
    {
      provider: "openai",
      name,
      apiKey: `sk-hostile-key-of-tests-${String(nth).padStart(4, "0")}`,
      baseUrl: upstream,
      models: [`p-${nth}`, `e-${nth}`]
    }
  ],
  nodes: (name, nth) => [
    "POST",
    "/api/provider-nodes",
    { name, prefix: `node${nth}`, type: "openai-compatible", baseUrl: upstream }
  ],
  combos: (name) => ["POST", "/api/combos", { name, strategy: "priority", targets: [{ model: "openai/p-1" }] }],
  aliases: (alias) => ["POST", "/api/models/alias", { alias, model: "openai/p-1" }],
  webhooks: (text) => [
    "POST",
    "/api/webhooks",
    { url: `https://hooks.example.com/${encodeURIComponent(text)}`, description: text }
  ],
  memories: (text) => ["POST", "/api/memory", { type: "factual", key: text, content: text }],
  presets: (name) => ["POST", "/api/playground/presets", { name, endpoint: "chat", model: "openai/p-1", system: name }],
  suites: (name) => [
    "POST",
    "/api/evals/suites",
    {
      name,
      cases: [
        {
          name,
          input: { messages: [{ role: "user", content: name }] },
          expected: { strategy: "contains", value: name }
        }
      ]
    }
  ],
  compressionCombos: (name) => ["POST", "/api/context/combos", { name, pipeline: [{ engine: "rtk" }] }],
  proxies: (name, nth) => [
    "POST",
    "/api/v1/management/proxies",
    { name, type: "http", host: "proxy.example.com", port: 1000 + nth }
  ],
  fallbacks: (text) => ["PATCH", "/api/settings", { modelFallbacks: { [text.trim()]: text.trim() } }],
  prompts: (text) => ["PUT", "/api/settings/system-prompt", { enabled: false, prefixPrompt: text }]
})

const har = (payloads: ReadonlyArray<string>): Body => ({
  log: {
    version: "1.2",
    creator: { name: payloads[0], version: payloads[1] },
    entries: payloads.map((text, index) => ({
      startedDateTime: "2026-01-01T00:00:00.000Z",
      time: 1,
      request: {
        method: "POST",
        url: `https://api.example.com/v1/chat/completions?${encodeURIComponent(text)}`,
        httpVersion: "HTTP/1.1",
        headers: [{ name: `x-hostile-${index}`, value: text }],
        queryString: [{ name: text, value: text }],
        cookies: [],
        headersSize: -1,
        bodySize: -1,
        postData: {
          mimeType: "application/json",
          text: JSON.stringify({
            model: text,
            messages: [{ role: "user", content: text }],
            tools: [{ type: "function", function: { name: text } }]
          })
        }
      },
      response: {
        status: 200,
        statusText: text,
        httpVersion: "HTTP/1.1",
        headers: [{ name: "x-hostile", value: text }],
        cookies: [],
        content: {
          size: 1,
          mimeType: "application/json",
          text: JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: text } }] })
        },
        redirectURL: "",
        headersSize: -1,
        bodySize: -1
      },
      cache: {},
      timings: { send: 0, wait: 1, receive: 0 }
    }))
  }
})

/** How many texts each way took; a way that takes none would show nothing. */
export type Seeded = Readonly<Record<string, number>>

export const seedHostile = async (
  gatewayUrl: string,
  upstream: string,
  payloads: ReadonlyArray<string>
): Promise<Seeded> => {
  const call = async (method: string, path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(`${gatewayUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body)
    })
    const text = await answer.text()
    // What is refused is refused in words; nothing of it is a failure of the gateway.
    assert.isBelow(answer.status, 500, `${method} ${path}: ${text}`)
    return answer.ok
  }
  const taken: Record<string, number> = {}
  const count = (way: string, isTaken: boolean): void => {
    taken[way] = (taken[way] ?? 0) + (isTaken ? 1 : 0)
  }
  for (const [nth, text] of payloads.entries()) {
    count("keys", await call("POST", "/api/keys", { name: text }))
    count(
      "requests",
      (await call(
        "POST",
        "/v1/chat/completions",
        { model: text, messages: [{ role: "user", content: text }] },
        { "user-agent": "x", "x-session-id": `s${nth}` }
      )) || true
    )
  }
  // A few of each kind for every way, another few for the next one.
  const ways = Object.entries(named(upstream))
  for (const [place, [way, make]] of ways.entries()) {
    for (let nth = 0; nth < payloads.length; nth += 5) {
      const text = payloads[(nth + place) % payloads.length] ?? ""
      const [method, path, body] = make(text, nth + place)
      count(way, await call(method, path, body))
    }
  }
  for (let nth = 0; nth < payloads.length; nth += 6) {
    for (const model of [`openai/p-${nth}`, `openai/e-${nth}`]) {
      await call("POST", "/v1/chat/completions", { model, messages: [{ role: "user", content: payloads[nth] }] })
    }
  }
  count("har", await call("POST", "/api/tools/traffic-inspector/sessions/import", har(payloads)))
  return taken
}
