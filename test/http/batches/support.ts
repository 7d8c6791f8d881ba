/** A gateway with an upstream that answers chats by what they say, and OpenAI's client of a key. */
import * as Effect from "effect/Effect"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import OpenAI, { toFile } from "openai"
import type { AppConfigShape } from "../../../src/platform/AppConfig.ts"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

export interface LineOptions {
  readonly url?: string
  readonly method?: string
  readonly body?: object
}

/** A line as clients write them; `say` is what the upstream goes by. */
export const line = (customId: string, say: string, more: LineOptions = {}): string =>
  JSON.stringify({
    custom_id: customId,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model: "up/m", messages: [{ role: "user", content: say }] },
    ...more
  })

export const saidIn = (body: string): string => JSON.parse(body).messages.at(-1).content

/** `status 400` and the like are errors of this status, everything else is repeated. */
export const answering: Fake.Answer = (response, request) => {
  const said = saidIn(request.body)
  const status = /^status (\d+)/.exec(said)?.[1]
  return status === undefined
    ? Fake.json(Fake.chatCompletion({ text: said, usage: { in: 10, out: 5 } }))(response, request)
    : Fake.json({ error: { message: `no: ${said}`, type: "x", code: "x" } }, { status: Number(status) })(
        response,
        request
      )
}

export const setUp = (config: Partial<AppConfigShape> = {}) =>
  Effect.gen(function* () {
    const dataDir = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-batches-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const upstream = yield* Fake.start
    upstream.always(answering)
    const gateway = yield* TestGateway.start({ dataDir, ...config })
    yield* Effect.promise(async () => {
      await gateway.connect("up", upstream, "chat")
      await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } })
    })
    const client = (apiKey: string) => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 })
    const key = async (name: string, more: object = {}): Promise<{ id: string; secret: string; openai: OpenAI }> => {
      const made = await gateway.manage("POST", "/api/keys", { name, ...more })
      return { id: made.key.id, secret: made.secret, openai: client(made.secret) }
    }
    const upload = async (openai: OpenAI, ...lines: ReadonlyArray<string>): Promise<string> =>
      (await openai.files.create({ file: await toFile(Buffer.from(lines.join("\n")), "in.jsonl"), purpose: "batch" }))
        .id
    const begin = async (openai: OpenAI, lines: ReadonlyArray<string>, more: object = {}): Promise<OpenAI.Batch> =>
      openai.batches.create({
        input_file_id: await upload(openai, ...lines),
        endpoint: "/v1/chat/completions",
        completion_window: "24h",
        ...more
      })
    const ended = (openai: OpenAI, id: string): Promise<OpenAI.Batch> =>
      eventually(
        "the end of the batch",
        () => openai.batches.retrieve(id),
        ({ status }) => ["completed", "failed", "expired", "cancelled"].includes(status)
      )
    // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
    const linesOf = async (openai: OpenAI, id: string | undefined | null): Promise<ReadonlyArray<any>> =>
      id === undefined || id === null
        ? []
        : (await (await openai.files.content(id)).text())
            .split("\n")
            .filter((text) => text !== "")
            .map((text) => JSON.parse(text))
    const folder = (name: string) => readdirSync(join(dataDir, name))
    return { gateway, upstream, dataDir, key, upload, begin, ended, linesOf, folder }
  })

export type Room = Effect.Effect.Success<ReturnType<typeof setUp>>
