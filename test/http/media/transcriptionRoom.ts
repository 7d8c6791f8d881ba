/** A gateway with providers of transcriptions, for tests over HTTP. */
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import OpenAI from "openai"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

export const mebibyte = 1_048_576

/** Ascii, so that a fake upstream, which keeps bodies as text, has every byte of it. */
export const recording = (bytes: number): Buffer =>
  Buffer.from("recording ".repeat(Math.ceil(bytes / 10)).slice(0, bytes))

export const silence = (seconds: number): Buffer => {
  const bytesPerSecond = 16_000
  const data = Buffer.alloc(seconds * bytesPerSecond, 0x20)
  const head = Buffer.alloc(44)
  head.write("RIFF", 0)
  head.writeUInt32LE(36 + data.length, 4)
  head.write("WAVEfmt ", 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8_000, 24)
  head.writeUInt32LE(bytesPerSecond, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write("data", 36)
  head.writeUInt32LE(data.length, 40)
  return Buffer.concat([head, data])
}

const setUp = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-uploads-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const gateway = yield* TestGateway.start({ dataDir, maxUploadBytes: 2 * mebibyte })
  const openai = yield* Fake.start
  const deepgram = yield* Fake.start
  const elevenlabs = yield* Fake.start
  const assemblyai = yield* Fake.start
  const connectTo = (provider: string, baseUrl: string, models: ReadonlyArray<string>) =>
    Effect.promise(() =>
      gateway.manage("POST", "/api/providers", { provider, name: provider, apiKey: "k", baseUrl, models })
    )
  yield* connectTo("openai", `${openai.origin}/v1`, ["whisper-1", "gpt-4o-transcribe"])
  yield* connectTo("deepgram", deepgram.origin, ["nova-3"])
  yield* connectTo("elevenlabs", `${elevenlabs.origin}/v1`, ["scribe_v1"])
  yield* connectTo("assemblyai", `${assemblyai.origin}/v2`, ["universal-2"])
  const sdk = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "any", maxRetries: 0 })
  const send = (fields: Readonly<Record<string, string>>, file: Buffer | null = recording(1_000), name = "a.mp3") => {
    const form = new FormData()
    for (const [field, value] of Object.entries(fields)) form.append(field, value)
    if (file !== null) form.append("file", new Blob([new Uint8Array(file)], { type: "audio/mpeg" }), name)
    return fetch(`${gateway.url}/v1/audio/transcriptions`, { method: "POST", body: form })
  }
  /** Uploads with a name, and those that are still open without one. */
  const kept = (): ReadonlyArray<string> => {
    const folder = join(dataDir, "uploads")
    const open = readdirSync("/proc/self/fd").flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)].filter((path) => path.startsWith(folder))
      } catch {
        return []
      }
    })
    return [...readdirSync(folder), ...open]
  }
  const breakDisk = () => rmSync(join(dataDir, "uploads"), { recursive: true })
  return { gateway, openai, deepgram, elevenlabs, assemblyai, sdk, send, kept, breakDisk }
})

export type SetUp = Effect.Effect.Success<typeof setUp>

export const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

export const nothingKept = ({ kept }: SetUp): Promise<unknown> =>
  eventually("nothing kept of the upload", kept, (left) => left.length === 0)

/** The parts of a form as an upstream got it: name → text, or file name and length. */
export const partsOf = ({ body, headers }: Fake.RecordedRequest): Readonly<Record<string, string>> => {
  const boundary = /boundary=(.+)$/.exec(headers["content-type"] ?? "")?.[1] ?? "none"
  const parts = body.split(`--${boundary}`).slice(1, -1)
  return Object.fromEntries(
    parts.map((part) => {
      const [head = "", ...rest] = part.split("\r\n\r\n")
      const text = rest.join("\r\n\r\n").slice(0, -2)
      const filename = /filename="([^"]*)"/.exec(head)?.[1]
      return [/name="([^"]*)"/.exec(head)?.[1] ?? "", filename === undefined ? text : `${filename} ${text.length}`]
    })
  )
}
