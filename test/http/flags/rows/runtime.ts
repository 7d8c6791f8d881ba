/** Flags about how requests are served, what is listed, and what is done in the background. */
import * as Effect from "effect/Effect"
import { request as httpRequest } from "node:http"
import { eventually } from "../../../support/eventually.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import { answer as streamed, ask as askStreaming, begin, cut, headOf } from "../../inference/recovery/Streams.ts"
import { call, connect } from "../../mcp/Client.ts"
import { asked, nothing, type Row, type Stage, toggle } from "./Row.ts"

const connected = ({ gateway, upstream }: Stage) => gateway.connect("up", upstream, "chat")

/** Two upstreams behind one name, of which the first breaks off. */
const breaking =
  (first: Fake.Answer, second: Fake.Answer) =>
  async ({ gateway, run, upstream }: Stage) => {
    const other = await run(Fake.start)
    upstream.always(first)
    other.always(second)
    await gateway.connect("one", upstream, "chat")
    await gateway.connect("two", other, "chat")
    await gateway.combo("both", "one/m", "two/m")
  }

const heard = async ({ gateway }: Stage) => {
  const { isClean, text } = await askStreaming("chat", gateway.url, "both")
  return [text, isClean]
}

/** Whether the upstream is asked for its models by itself. A chat is behind it, where nothing is to come. */
const isLooked = (quiet: string) => async (stage: Stage, value: string) => {
  const { upstream } = stage
  if (value === quiet) await asked(stage, "up/m", "Hi")
  else {
    await eventually(
      "the models to be asked for",
      async () => upstream.listRequests.length,
      (count) => count > 0
    )
  }
  return upstream.listRequests.length > 0
}

/** The status of a handshake. */
const handshake = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = {
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="
    }
    const request = httpRequest(url, { headers })
    request.on("upgrade", (_, socket) => {
      socket.destroy()
      resolve(101)
    })
    request.on("response", (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on("error", reject)
    request.end()
  })

const listed = async ({ gateway }: Stage) => {
  const { data } = JSON.parse(await (await fetch(`${gateway.url}/v1/models`)).text())
  return (data as ReadonlyArray<{ readonly id: string; readonly name?: string }>).filter(({ id }) =>
    id.endsWith("/my-model")
  )
}

const ofGoogle = ({ gateway }: Stage) =>
  gateway.manage("POST", "/api/providers", {
    provider: "gemini",
    name: "g",
    apiKey: "a-key-of-gemini",
    models: ["my-model"]
  })

const quiet = { GATEWAY_DISABLE_BACKGROUND_SERVICES: "true" }

const texts = ["The quick", " brown fox"]

export const runtime: ReadonlyArray<Row> = [
  toggle({
    flag: "RATE_LIMIT_AUTO_ENABLE",
    isFresh: true,
    prepare: async (stage) => {
      await connected(stage)
      const requestQueue = { enabled: false, requestsPerMinute: 1, maxWaitMs: 0 }
      await stage.gateway.manage("PATCH", "/api/resilience", { requestQueue })
    },
    look: async ({ chat }) => [await chat("up/m"), await chat("up/m")],
    off: [200, 200],
    on: [200, 503]
  }),
  toggle({
    flag: "ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE",
    prepare: connected,
    look: async ({ admin }) =>
      (await admin("POST", "/api/providers", { provider: "up", name: "second", apiKey: "another-key-of-up" })).status,
    off: 409,
    on: 201
  }),
  toggle({
    flag: "GATEWAY_MCP_ENFORCE_SCOPES",
    prepare: nothing,
    look: async ({ gateway }) => {
      const { secret } = await gateway.manage("POST", "/api/keys", { name: "reader", scopes: ["read:combos"] })
      return (await call(await connect(gateway.url, secret), "get_health")).isError
    },
    off: false,
    on: true
  }),
  toggle({
    flag: "GATEWAY_MCP_COMPRESS_DESCRIPTIONS",
    prepare: nothing,
    look: async ({ gateway }) => {
      const { tools } = await (await connect(gateway.url)).client.listTools()
      return /\.\s+\S/.test(tools.find(({ name }) => name === "gateway_explain_route")?.description ?? "")
    },
    off: true,
    on: false
  }),
  toggle({
    flag: "GATEWAY_DISABLE_BACKGROUND_SERVICES",
    prepare: connected,
    look: isLooked("true"),
    off: true,
    on: false
  }),
  toggle({
    flag: "GATEWAY_DISABLE_LOCAL_HEALTHCHECK",
    isFresh: true,
    prepare: connected,
    look: isLooked("true"),
    off: true,
    on: false
  }),
  toggle({
    flag: "GATEWAY_ENABLE_LIVE_WS",
    config: { livePort: 0 },
    prepare: nothing,
    look: async ({ gateway }) => (await gateway.manage("GET", "/api/live")).port !== null,
    off: false,
    on: true
  }),
  toggle({
    flag: "GATEWAY_UPSTREAM_WS_ENABLED",
    prepare: nothing,
    look: ({ gateway }) => handshake(`${gateway.url}/v1/responses`),
    off: 426,
    on: 101
  }),
  toggle({
    flag: "GATEWAY_EMERGENCY_FALLBACK",
    isFresh: true,
    prepare: async (stage) => {
      const { gateway, run, upstream } = stage
      upstream.always(Fake.json({ error: { message: "Insufficient credits" } }, { status: 402 }))
      await connected(stage)
      const free = await run(
        Effect.tap(Fake.start, (it) => Effect.sync(() => it.always(Fake.json(Fake.chatCompletion({ text: "free" })))))
      )
      const account = { provider: "nvidia", name: "free", apiKey: "k", baseUrl: `${free.origin}/v1` }
      await gateway.manage("POST", "/api/providers", account)
    },
    look: async (stage) => {
      const { headers, status } = await asked(stage, "up/m", "Hi")
      return [status, headers.get("x-gateway-provider")]
    },
    off: [402, null],
    on: [200, "nvidia"]
  }),
  toggle({
    flag: "MODEL_CATALOG_INCLUDE_NAMES",
    environment: quiet,
    prepare: ofGoogle,
    look: async (stage) => typeof (await listed(stage))[0]?.name,
    off: "undefined",
    on: "string"
  }),
  {
    flag: "MODELS_CATALOG_PREFIX_MODE",
    environment: quiet,
    prepare: ofGoogle,
    look: async (stage) => (await listed(stage)).map(({ id }) => id),
    seen: {
      canonical: ["gemini/my-model"],
      alias: ["google/my-model"],
      dual: ["gemini/my-model", "google/my-model"]
    }
  },
  toggle({
    flag: "STREAM_RECOVERY_ENABLED",
    isFresh: true,
    prepare: breaking(cut("chat", ["The quick"]), streamed("chat", ["The lazy dog."])),
    look: heard,
    off: ["The quick", false],
    on: ["The lazy dog.", true]
  }),
  toggle({
    flag: "STREAM_RECOVERY_MIDSTREAM_ENABLED",
    isFresh: true,
    prepare: breaking(
      Fake.sse(begin("chat", texts), headOf("chat")),
      streamed("chat", [" jumps over", " the lazy dog."])
    ),
    look: heard,
    off: ["The quick brown fox", false],
    on: ["The quick brown fox jumps over the lazy dog.", true]
  })
]
