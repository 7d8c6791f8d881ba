/** Files over real sockets: OpenAI's client, hostile forms, and what is left on disk. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createHash, randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import OpenAI, { NotFoundError, toFile } from "openai"
import { eventuallyFound } from "../../support/eventually.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const mebibyte = 1_048_576

const setUp = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-files-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const gateway = yield* TestGateway.start({ dataDir, maxUploadBytes: mebibyte })
  const client = (apiKey: string) => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 })
  const onDisk = () => readdirSync(join(dataDir, "files"))
  return { gateway, client, onDisk }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const secretOf = async ({ gateway }: SetUp, name: string): Promise<string> =>
  (await gateway.manage("POST", "/api/keys", { name })).secret

const nothingLeft = ({ onDisk }: SetUp): Promise<unknown> =>
  eventuallyFound("an empty folder", async () => (onDisk().length === 0 ? true : undefined))

describe("/v1/files", () => {
  scenario("OpenAI's client uploads, lists, reads and deletes", async (room) => {
    const { files } = room.client(await secretOf(room, "one"))
    const bytes = randomBytes(300_000)
    const made = await files.create({
      file: await toFile(bytes, "../a/\u202e日本 übung.jsonl"),
      purpose: "batch",
      expires_after: { anchor: "created_at", seconds: 3600 }
    })
    assert.match(made.id, /^file-[\da-f]{32}$/)
    assert.deepInclude(made, { object: "file", bytes: 300_000, filename: "日本 übung.jsonl", purpose: "batch" })
    assert.strictEqual(made.expires_at, made.created_at + 3600)
    const other = await files.create({ file: await toFile(Buffer.from("x"), "x.txt"), purpose: "user_data" })
    assert.strictEqual(other.expires_at, null as unknown)

    assert.deepStrictEqual(
      (await files.list()).data.map(({ id }) => id),
      [other.id, made.id]
    )
    assert.deepStrictEqual(
      (await files.list({ order: "asc", limit: 1 })).data.map(({ id }) => id),
      [made.id]
    )
    assert.deepStrictEqual(
      (await files.list({ purpose: "batch" })).data.map(({ id }) => id),
      [made.id]
    )
    assert.deepStrictEqual(
      (await files.list({ after: other.id })).data.map(({ id }) => id),
      [made.id]
    )
    assert.deepStrictEqual(await files.retrieve(made.id), made)
    const content = Buffer.from(await (await files.content(made.id)).arrayBuffer())
    assert.isTrue(content.equals(bytes))
    const part = await files.content(made.id, { headers: { range: "bytes=10-19" } })
    assert.strictEqual(part.status, 206)
    assert.strictEqual(part.headers.get("content-range"), "bytes 10-19/300000")
    assert.strictEqual(part.headers.get("etag"), `"${createHash("sha256").update(bytes).digest("hex")}"`)
    assert.isTrue(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(10, 20)))
    assert.deepStrictEqual(await files.delete(made.id), { id: made.id, object: "file", deleted: true })
    assert.deepStrictEqual(room.onDisk(), [other.id])
  })

  scenario("another key's file does not exist, and callers without a key share theirs", async (room) => {
    const mine = room.client(await secretOf(room, "mine"))
    const theirs = room.client(await secretOf(room, "theirs"))
    const file = await mine.files.create({ file: await toFile(Buffer.from("x"), "x"), purpose: "evals" })
    for (const ask of [
      () => theirs.files.retrieve(file.id),
      () => theirs.files.content(file.id),
      () => theirs.files.delete(file.id)
    ]) {
      const error = await ask().catch((thrown: unknown) => thrown)
      assert.instanceOf(error, NotFoundError)
    }
    assert.lengthOf((await theirs.files.list()).data, 0)
    const form = new FormData()
    form.set("file", new Blob(["y"]), "y")
    form.set("purpose", "evals")
    const anonymous = await fetch(`${room.gateway.url}/v1/files`, { method: "POST", body: form })
    assert.strictEqual(anonymous.status, 200)
    const { id } = (await anonymous.json()) as { id: string }
    assert.strictEqual((await fetch(`${room.gateway.url}/v1/files/${id}`)).status, 200)
  })

  scenario("what is no form of one file is refused and leaves nothing", async (room) => {
    const send = async (body: string, boundary = "b") => {
      const answer = await fetch(`${room.gateway.url}/v1/files`, {
        method: "POST",
        body,
        headers: { "content-type": `multipart/form-data${boundary === "" ? "" : `; boundary=${boundary}`}` }
      })
      return { status: answer.status, text: await answer.text() }
    }
    const file = (name = "file") => `--b\r\nContent-Disposition: form-data; name="${name}"; filename="f"\r\n\r\nx\r\n`
    const value = (name: string, text: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
    const purpose = value("purpose", "batch")
    for (const [body, boundary] of [
      [file() + purpose, "b"],
      [file() + purpose + "--b--\r\n", "other"],
      [file() + purpose + "--b--\r\n", ""],
      [purpose + "--b--\r\n", "b"],
      [file() + file() + purpose + "--b--\r\n", "b"],
      [file("image") + purpose + "--b--\r\n", "b"],
      [file() + value("purpose", "mischief") + "--b--\r\n", "b"],
      [file() + "--b--\r\n", "b"],
      [file() + purpose + value("expires_after[anchor]", "created_at") + "--b--\r\n", "b"],
      [file() + value("purpose", "x".repeat(10_000)) + "--b--\r\n", "b"],
      [value("x", "y").repeat(1_000) + file() + purpose + "--b--\r\n", "b"],
      [`--b\r\nX: ${"y".repeat(100_000)}\r\n\r\n` + file() + purpose + "--b--\r\n", "b"]
    ] as const) {
      const { status, text } = await send(body, boundary)
      assert.strictEqual(status, 400, `${body.slice(0, 200)} ${text}`)
      assert.isString(JSON.parse(text).error.message)
    }
    await nothingLeft(room)
  })

  scenario("a file over the limit is refused by its length, and cut off when that lied", async (room) => {
    const { host, port } = { host: "127.0.0.1", port: Number(new URL(room.gateway.url).port) }
    const raw = (head: string, body: Buffer | null): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect(port, host)
        let answer = ""
        socket.on("data", (chunk) => (answer += chunk.toString()))
        socket.on("error", () => {})
        socket.on("close", () => resolve(answer))
        socket.on("end", () => socket.destroy())
        socket.write(
          `POST /v1/files HTTP/1.1\r\nHost: ${host}:${port}\r\nContent-Type: multipart/form-data; boundary=b\r\n${head}\r\n\r\n`
        )
        if (body !== null) socket.write(body)
      })
    assert.match(await raw(`Content-Length: ${2 * mebibyte}`, null), /^HTTP\/1.1 413 [^]*GATEWAY_MAX_UPLOAD_MB/)
    const start = Buffer.from(`--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n`)
    const long = Buffer.concat([start, Buffer.alloc(2 * mebibyte)])
    const chunk = Buffer.concat([Buffer.from(`${long.length.toString(16)}\r\n`), long])
    assert.match(await raw("Transfer-Encoding: chunked", chunk), /^HTTP\/1.1 413 [^]*GATEWAY_MAX_UPLOAD_MB/)
    await nothingLeft(room)
  })

  scenario("the quota of a key bounds its files together", async (room) => {
    await room.gateway.manage("PATCH", "/api/settings", { files: { quotaBytesPerKey: 1_000 } })
    const { files } = room.client(await secretOf(room, "small"))
    const upload = async (bytes: number) =>
      files.create({ file: await toFile(Buffer.alloc(bytes), "f"), purpose: "evals" })
    const first = await upload(600)
    const error = await upload(600).catch((thrown: unknown) => thrown)
    assert.deepInclude(error, { status: 413, code: "file_quota_exceeded" })
    await files.delete(first.id)
    await upload(1_000)
  })

  scenario("a client that leaves leaves nothing", async (room) => {
    const port = Number(new URL(room.gateway.url).port)
    const socket = connect(port, "127.0.0.1")
    const start = `--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n${"x".repeat(100_000)}`
    socket.write(
      `POST /v1/files HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 200000\r\n\r\n${start}`
    )
    await eventuallyFound("a file on its way", async () => room.onDisk().find((name) => name.endsWith(".part")))
    socket.destroy()
    await nothingLeft(room)
  })

  scenario("ranges that cannot be met are 416", async (room) => {
    const { files } = room.client(await secretOf(room, "ranges"))
    const { id } = await files.create({ file: await toFile(Buffer.from("0123456789"), "f"), purpose: "evals" })
    const error = await files.content(id, { headers: { range: "bytes=10-" } }).catch((thrown: unknown) => thrown)
    assert.deepInclude(error, { status: 416 })
    assert.strictEqual(await (await files.content(id, { headers: { range: "bytes=-3" } })).text(), "789")
  })
})
