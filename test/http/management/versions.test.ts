/** Versions of what is edited: the tag of each single object, changes under the condition that it is the one that was seen, and answers that a client has already. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { request } from "node:http"
import type { IncomingHttpHeaders } from "node:http"
import { managementTable } from "../../../src/contract/ManagementRoutes.ts"
import { isChange, isEdited, shownBy } from "../../../src/entry/management/Versions.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  readonly json: any
  readonly tag: string
}

const jsonOf = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString("utf8"))
  } catch {
    return null
  }
}

/** Node's own requests: fetch asks for codings by itself, and undoes them. */
const sender =
  (url: string) =>
  (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const asked = request(
        url + path,
        {
          method,
          headers: {
            authorization: `Bearer ${TestGateway.adminKey}`,
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...headers
          }
        },
        (response) => {
          const parts: Array<Buffer> = []
          response.on("data", (part: Buffer) => parts.push(part))
          response.on("error", reject)
          response.on("end", () => {
            const bytes = Buffer.concat(parts)
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              bytes,
              json: jsonOf(bytes),
              tag: response.headers.etag ?? ""
            })
          })
        }
      )
      asked.on("error", reject)
      asked.end(body === undefined ? undefined : JSON.stringify(body))
    })

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ text: "here" })))
  const connection = yield* Effect.promise(() => gateway.connect("near", upstream, "chat"))
  return { gateway, connection, upstream, send: sender(gateway.url) }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

/** Objects with a change of each. */
const objects = async ({ connection, send }: Scene) => {
  const made = async (path: string, body: unknown, member: string) => {
    const { json, status } = await send("POST", path, body)
    assert.strictEqual(status, 201, JSON.stringify(json))
    return (json[member] ?? json).id as string
  }
  const combo = await made("/api/combos", { name: "c", targets: [{ model: "near/m" }] }, "combo")
  const key = await made("/api/keys", { name: "k" }, "key")
  const webhook = await made("/api/webhooks", { url: "https://example.com/hook", events: ["*"] }, "webhook")
  const group = await made(
    "/api/quota/groups",
    { name: "g", members: [{ connectionId: connection.id, weight: 1 }], allocations: [] },
    "group"
  )
  const memory = await made("/api/memory", { content: "It rains." }, "memory")
  const server = await made("/api/mcp/servers", { name: "s", url: "https://example.com/mcp", enabled: false }, "server")
  const preset = await made("/api/playground/presets", { name: "p", endpoint: "chat", model: "near/m" }, "preset")
  const { json: nodes } = await send("GET", "/api/provider-nodes")
  const squeezed = await made("/api/context/combos", { name: "x", pipeline: [{ engine: "rtk" }] }, "combo")
  const rows: ReadonlyArray<readonly [method: string, path: string, first: unknown, second: unknown]> = [
    ["PUT", `/api/combos/${combo}`, { strategy: "random" }, { strategy: "weighted" }],
    ["PUT", `/api/keys/${key}`, { name: "k1" }, { name: "k2" }],
    ["PATCH", `/api/keys/${key}`, { noLog: true }, { noLog: false }],
    ["PUT", `/api/providers/${connection.id}`, { priority: 3 }, { priority: 4 }],
    ["PUT", `/api/provider-nodes/${nodes.nodes[0].id}`, { name: "n1" }, { name: "n2" }],
    ["PUT", `/api/webhooks/${webhook}`, { description: "a" }, { description: "b" }],
    ["PUT", `/api/quota/groups/${group}`, { name: "g1" }, { name: "g2" }],
    ["PUT", `/api/memory/${memory}`, { content: "It snows." }, { content: "It hails." }],
    ["PATCH", `/api/memory/${memory}`, { content: "It is dry." }, { content: "It is hot." }],
    ["PATCH", `/api/mcp/servers/${server}`, { timeoutMs: 5_000 }, { timeoutMs: 6_000 }],
    ["PUT", `/api/playground/presets/${preset}`, { name: "p1" }, { name: "p2" }],
    [
      "PUT",
      `/api/context/combos/${squeezed}`,
      { name: "x1", pipeline: [{ engine: "rtk" }] },
      { name: "x2", pipeline: [{ engine: "rtk" }] }
    ],
    ["PATCH", "/api/settings", { corsOrigins: ["https://a.example"] }, { corsOrigins: ["https://b.example"] }],
    ["PUT", "/api/settings/system-prompt", { prefixPrompt: "a" }, { prefixPrompt: "b" }],
    ["PUT", "/api/settings/guardrails", { disabledDetectors: ["email"] }, { disabledDetectors: [] }],
    ["PATCH", "/api/settings/routing", { lkgpEnabled: false }, { freeTierStrict: true }],
    ["PATCH", "/api/resilience", { retry: { maxRetries: 1 } }, { retry: { maxRetries: 2 } }],
    ["PUT", "/api/v1/providers/openai/limits", { maxActiveKeys: 4 }, { maxActiveKeys: 5 }],
    ["POST", "/api/usage/budget", { apiKeyId: key, dailyLimitUsd: 1 }, { apiKeyId: key, dailyLimitUsd: 2 }],
    ["PUT", "/api/settings/memory", { retentionDays: 10 }, { retentionDays: 11 }]
  ]
  return rows
}

describe("an object that is edited", () => {
  scene("has a tag, and the second of two editors is told, with the object as it is", async (given) => {
    const { send } = given
    for (const [method, path, first, second] of await objects(given)) {
      const where = `${method} ${path}`
      const seen = await send("GET", path)
      assert.strictEqual(seen.status, 200, `${where} ${seen.bytes.toString()}`)
      assert.match(seen.tag, /^"[\w-]{22}"$/, where)
      assert.strictEqual((await send("GET", path)).tag, seen.tag, where)
      const done = await send(method, path, first, { "if-match": seen.tag })
      assert.isBelow(done.status, 300, `${where} ${done.bytes.toString()}`)
      const now = await send("GET", path)
      assert.notStrictEqual(now.tag, seen.tag, where)
      if (done.status !== 204) assert.strictEqual(done.tag, now.tag, where)
      const late = await send(method, path, second, { "if-match": seen.tag })
      assert.strictEqual(late.status, 412, where)
      assert.strictEqual(late.tag, now.tag, where)
      assert.strictEqual(late.json.error.code, "precondition_failed", where)
      assert.deepStrictEqual(late.json.current, now.json, where)
      assert.deepStrictEqual((await send("GET", path)).json, now.json, where)
      // With the tag of the refusal it is taken; and without any, as ever.
      const again = await send(method, path, second, { "if-match": late.tag })
      assert.isBelow(again.status, 300, where)
      assert.isBelow((await send(method, path, first)).status, 300, where)
    }
  })

  scene("is compared with every tag of a list, with `*`, and never weakly", async ({ send }) => {
    await send("POST", "/api/combos", { id: "c", name: "c", targets: [{ model: "near/m" }] })
    const { tag } = await send("GET", "/api/combos/c")
    const change = (condition: string, header = "if-match") =>
      send("PUT", "/api/combos/c", { isActive: true }, { [header]: condition })
    assert.strictEqual((await change(`"other", ${tag}`)).status, 200)
    const { tag: now } = await send("GET", "/api/combos/c")
    assert.strictEqual((await change("*")).status, 200)
    assert.strictEqual((await change(`W/${(await send("GET", "/api/combos/c")).tag}`)).status, 412)
    assert.strictEqual((await change('"other", "another"')).status, 412)
    for (const wrong of ["other", '"other', "", '"a" "b"', `"${"a".repeat(9_000)}"`]) {
      const answer = await change(wrong)
      assert.strictEqual(answer.status, 400, wrong)
      assert.strictEqual(answer.json.error.param, "If-Match")
    }
    assert.strictEqual((await change("*", "if-none-match")).status, 412)
    // What is not there is not there, whatever version is named.
    const missing = await send("PUT", "/api/combos/none", { isActive: true }, { "if-match": now })
    assert.strictEqual(missing.status, 404)
    const refused = await send("PUT", "/api/combos/c", {}, { "if-match": '"x"', authorization: "Bearer wrong" })
    assert.strictEqual(refused.status, 401)
    assert.notInclude(refused.bytes.toString(), "near/m")
    assert.strictEqual((await send("DELETE", "/api/combos/c", undefined, { "if-match": '"x"' })).status, 412)
    const { tag: last } = await send("GET", "/api/combos/c")
    assert.strictEqual((await send("DELETE", "/api/combos/c", undefined, { "if-match": last })).status, 204)
  })

  scene("is changed by one of many who have seen the same version", async ({ send }) => {
    await send("POST", "/api/combos", { id: "c", name: "c", targets: [{ model: "near/m" }] })
    const { json: key } = await send("POST", "/api/keys", { name: "k" })
    const paths = ["/api/combos/c", `/api/keys/${key.key.id}`, "/api/settings"]
    for (const path of paths) {
      const { tag } = await send("GET", path)
      const bodyOf = (n: number) =>
        path === "/api/settings" ? { corsOrigins: [`https://n${n}.example`] } : { name: `named ${n}` }
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          send(path === "/api/settings" ? "PATCH" : "PUT", path, bodyOf(n), { "if-match": tag })
        )
      )
      const statuses = answers.map(({ status }) => status).toSorted((left, right) => left - right)
      assert.deepStrictEqual(statuses, [200, ...Array.from({ length: 19 }, () => 412)], path)
      const winner = answers.find(({ status }) => status === 200)
      assert.strictEqual((await send("GET", path)).tag, winner?.tag)
    }
  })

  scene("keeps its tag when it is used, tested and counted; and what was observed is still sent", async (given) => {
    const { connection, gateway, send } = given
    const { json: made } = await send("POST", "/api/keys", { name: "k" })
    await send("POST", "/api/usage/budget", { apiKeyId: made.key.id, dailyLimitUsd: 5 })
    const paths = [
      `/api/keys/${made.key.id}`,
      `/api/providers/${connection.id}`,
      `/api/usage/budget?apiKeyId=${made.key.id}`
    ]
    const before = await Promise.all(paths.map((path) => send("GET", path)))
    const asked = await gateway.post(
      "/v1/chat/completions",
      { model: "near/m", messages: [{ role: "user", content: "hi" }] },
      { authorization: `Bearer ${made.secret}` }
    )
    assert.strictEqual(asked.status, 200)
    await asked.text()
    await gateway.usageRow(asked.headers.get("x-gateway-request-id") ?? "")
    assert.strictEqual((await send("POST", `/api/providers/${connection.id}/test`)).status, 200)
    const after = await Promise.all(paths.map((path) => send("GET", path)))
    assert.deepStrictEqual(
      after.map(({ tag }) => tag),
      before.map(({ tag }) => tag)
    )
    assert.strictEqual(before[0]?.json.key.lastUsedAt, null)
    const seen = after[0]
    assert.isString(seen?.json.key.lastUsedAt)
    // Who has the version from before the use has other bytes under this tag: it is told.
    const polled = await send("GET", paths[0] ?? "", undefined, { "if-none-match": before[0]?.tag ?? "" })
    assert.strictEqual(polled.status, 200)
  })
})

it("finds what shows each object that a route with its id in the path changes", () => {
  const without = Object.entries(managementTable)
    .filter(([key, { method, path }]) => isChange({ key: key as "keys.update", method }) && path.includes(":"))
    .filter(([key]) => shownBy(key as "keys.update") === null)
    .map(([key]) => key)
  // A session is ended, a gateway is forgotten, and neither is edited.
  assert.deepStrictEqual(without, ["auth.endSession", "cluster.forget"])
  assert.isTrue(isEdited("combos.get"))
  assert.isFalse(isEdited("combos.auto"))
})

describe("an answer of the management", () => {
  scene("is coded above 2 KB in what the client takes, has a tag, and is not sent twice", async ({ send }) => {
    for (let n = 0; n < 12; n++) {
      await send("POST", "/api/combos", { id: `c${n}`, name: `combo ${n}`, targets: [{ model: "near/m" }] })
    }
    for (const path of ["/api/combos", "/openapi.json", "/gateway.schema.json", "/v1/models", "/api/models/catalog"]) {
      const plain = await send("GET", path)
      assert.strictEqual(plain.status, 200, path)
      assert.isUndefined(plain.headers["content-encoding"], path)
      assert.include(String(plain.headers.vary).toLowerCase(), "accept-encoding", path)
      if (plain.bytes.length < 2_048) continue
      for (const [accepted, coding] of [
        ["gzip", "gzip"],
        ["br", "br"],
        ["gzip, deflate, br", "br"],
        ["br;q=0.1, gzip;q=0.9", "gzip"],
        ["gzip;q=0, br;q=0, identity", undefined],
        ["deflate", undefined]
      ] as const) {
        const coded = await send("GET", path, undefined, { "accept-encoding": accepted })
        const where = `${path} ${accepted}`
        assert.strictEqual(coded.headers["content-encoding"], coding, where)
        if (coding === undefined) continue
        const undone = coding === "br" ? brotliDecompressSync(coded.bytes) : gunzipSync(coded.bytes)
        assert.isTrue(undone.equals(plain.bytes), where)
        assert.isBelow(coded.bytes.length, plain.bytes.length / 2, where)
        assert.strictEqual(Number(coded.headers["content-length"]), coded.bytes.length, where)
        assert.notStrictEqual(coded.tag, plain.tag, where)
        const known = await send("GET", path, undefined, { "accept-encoding": accepted, "if-none-match": coded.tag })
        assert.strictEqual(known.status, 304, where)
        assert.strictEqual(known.bytes.length, 0, where)
        assert.include(String(known.headers.vary).toLowerCase(), "accept-encoding", where)
      }
      assert.strictEqual((await send("GET", path, undefined, { "if-none-match": `W/${plain.tag}` })).status, 304, path)
      assert.strictEqual((await send("GET", path, undefined, { "if-none-match": '"other"' })).status, 200, path)
      assert.strictEqual((await send("HEAD", path)).tag, plain.tag, path)
    }
  })

  scene("is kept by no cache, also a refusal; the API document is asked about", async ({ send }) => {
    for (const [method, path] of [
      ["GET", "/api/combos"],
      ["GET", "/api/keys/none"],
      ["POST", "/api/keys"],
      ["GET", "/api/nowhere"]
    ] as const) {
      const { headers } = await send(method, path, method === "POST" ? { name: "k" } : undefined)
      assert.strictEqual(headers["cache-control"], "no-store", path)
    }
    const { headers } = await send("GET", "/openapi.json")
    assert.strictEqual(headers["cache-control"], "no-cache")
  })

  scene("of an edited object is taken as the same version in every coding", async ({ send }) => {
    const targets = Array.from({ length: 60 }, (_, n) => ({ model: "near/m", label: `a longer label ${n}` }))
    await send("POST", "/api/combos", { id: "c", name: "c", targets })
    const seen = await send("GET", "/api/combos/c", undefined, { "accept-encoding": "gzip" })
    assert.strictEqual(seen.headers["content-encoding"], "gzip")
    assert.strictEqual((await send("PUT", "/api/combos/c", { name: "d" }, { "if-match": seen.tag })).status, 200)
    assert.strictEqual((await send("PUT", "/api/combos/c", { name: "e" }, { "if-match": seen.tag })).status, 412)
  })

  scene("of a model is never coded", async ({ gateway, upstream }) => {
    upstream.always(Fake.json(Fake.chatCompletion({ text: "long ".repeat(2_000) })))
    const ask = sender(gateway.url)
    const answer = await ask(
      "POST",
      "/v1/chat/completions",
      { model: "near/m", messages: [{ role: "user", content: "hi" }] },
      { "accept-encoding": "gzip, br" }
    )
    assert.strictEqual(answer.status, 200)
    assert.isAbove(answer.bytes.length, 2_048)
    assert.isUndefined(answer.headers["content-encoding"])
  })
})
