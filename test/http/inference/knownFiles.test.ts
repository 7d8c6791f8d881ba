/** Files of `/v1/files` by their ids: put in as bytes on every wire, for the key that they are of. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { saying } from "../../support/AnyWire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(saying("Read"))
  yield* Effect.promise(async () => {
    for (const wire of ["chat", "messages", "responses", "gemini", "ollama"] as const)
      await gateway.connect(`x${wire}`, upstream, wire, { models: ["m"] })
  })
  return { gateway, upstream }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB", "base64")
const pdf = Buffer.from("%PDF-1.4\nwords")

const upload = async (
  gateway: SetUp["gateway"],
  filename: string,
  body: Buffer | string,
  headers: Readonly<Record<string, string>> = {}
): Promise<string> => {
  const form = new FormData()
  form.append("purpose", "user_data")
  form.append("file", new Blob([body]), filename)
  const answer = await fetch(`${gateway.url}/v1/files`, { method: "POST", body: form, headers })
  assert.strictEqual(answer.status, 200, await answer.clone().text())
  return ((await answer.json()) as { id: string }).id
}

/** A request of each wire that asks about one file. */
const asking = {
  chat: (id: string) => ({
    path: "/v1/chat/completions",
    body: { messages: [{ role: "user", content: [{ type: "file", file: { file_id: id } }] }] }
  }),
  responses: (id: string) => ({
    path: "/v1/responses",
    body: { input: [{ role: "user", content: [{ type: "input_file", file_id: id }] }] }
  }),
  messages: (id: string) => ({
    path: "/v1/messages",
    body: {
      max_tokens: 100,
      messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: id } }] }]
    }
  })
} as const

const geminiBody = (id: string) => ({
  contents: [
    { role: "user", parts: [{ text: "Read" }, { fileData: { fileUri: `https://x.test/v1beta/files/${id}` } }] }
  ]
})

describe("a file of the gateway", () => {
  scenario("is put in on every wire, its own included", async ({ gateway, upstream }) => {
    const id = await upload(gateway, "a.pdf", pdf)
    for (const [client, ask] of Object.entries(asking)) {
      for (const target of ["chat", "messages", "responses", "gemini"]) {
        const { body, path } = ask(id)
        const answer = await gateway.post(path, { model: `x${target}/m`, ...body })
        assert.strictEqual(answer.status, 200, `${client} > ${target}: ${await answer.clone().text()}`)
        const sent = upstream.requests.at(-1)?.body ?? ""
        assert.include(sent, pdf.toString("base64"), `${client} > ${target}`)
        assert.notInclude(sent, id)
      }
    }
    const google = await gateway.post("/v1beta/models/xgemini/m:generateContent", geminiBody(id))
    assert.strictEqual(google.status, 200)
    assert.include(upstream.requests.at(-1)?.body ?? "", pdf.toString("base64"))
  })

  scenario("that is a picture, or text, is what the wire has for it", async ({ gateway, upstream }) => {
    const picture = await upload(gateway, "a.png", png)
    const text = await upload(gateway, "a.md", "# Words")
    for (const ask of Object.values(asking)) {
      for (const [id, said] of [
        [picture, png.toString("base64")],
        [text, "# Words"]
      ] as const) {
        const { body, path } = ask(id)
        const answer = await gateway.post(path, { model: "xollama/m", ...body })
        assert.strictEqual(answer.status, 200, await answer.clone().text())
        assert.include(upstream.requests.at(-1)?.body ?? "", said)
      }
    }
  })

  scenario("of another key is no file of this one", async ({ gateway, upstream }) => {
    const keys = await Promise.all(
      ["a", "b"].map(async (name) => (await gateway.manage("POST", "/api/keys", { name })).secret as string)
    )
    const bearer = (key: string | undefined) => ({ authorization: `Bearer ${key}` })
    const id = await upload(gateway, "a.pdf", pdf, bearer(keys[0]))
    const { body, path } = asking.chat(id)
    const refused = await gateway.post(path, { model: "xmessages/m", ...body }, bearer(keys[1]))
    assert.strictEqual(refused.status, 400)
    assert.match(await refused.text(), /messages\.content\.file/)
    assert.lengthOf(upstream.requests, 0)
    assert.strictEqual((await gateway.post(path, { model: "xmessages/m", ...body }, bearer(keys[0]))).status, 200)
  })

  scenario("of somebody else's form stays with its provider's wire", async ({ gateway, upstream }) => {
    const { body, path } = asking.responses("file-abc123")
    assert.strictEqual((await gateway.post(path, { model: "xresponses/m", ...body })).status, 200)
    assert.include(upstream.requests.at(-1)?.body ?? "", "file-abc123")
    assert.strictEqual((await gateway.post(path, { model: "xgemini/m", ...body })).status, 400)
  })

  scenario("that is larger than the provider takes goes to the next target", async ({ gateway, upstream }) => {
    const id = await upload(gateway, "a.pdf", Buffer.concat([pdf, Buffer.alloc(25 * 1_048_576, 1)]))
    const { body, path } = asking.chat(id)
    const alone = await gateway.post(path, { model: "xmessages/m", ...body })
    assert.strictEqual(alone.status, 400)
    assert.match(await alone.text(), /more than 24 MiB/)
    await gateway.combo("both", "xmessages/m", "xchat/m")
    assert.strictEqual((await gateway.post(path, { model: "both", ...body })).status, 200)
    assert.lengthOf(upstream.requests, 1)
  })
})
