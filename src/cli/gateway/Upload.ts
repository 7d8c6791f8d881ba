/** Sending files as a form, as they are read: no file is in memory whole. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { randomUUID } from "node:crypto"
import { type FileHandle, open } from "node:fs/promises"
import { basename } from "node:path"
import { Readable } from "node:stream"
import { BadArgument, type CliFailure } from "../Failure.ts"
import { withProgress } from "../output/Progress.ts"
import type { Target } from "./Client.ts"
import * as Inference from "./Inference.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** Bytes to send. */
export interface Source {
  readonly name: string
  /** Null: unknown, as on standard input. */
  readonly bytes: number | null
  readonly read: () => AsyncIterable<Uint8Array>
  /** First bytes of it, where they can be looked at beforehand. */
  readonly head: Buffer
}

const pieceBytes = 262_144
const headBytes = 16

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const cannotRead = (path: string, error: unknown): BadArgument =>
  new BadArgument({ message: `'${path}' cannot be read: ${asSentence(reasonOf(error))}` })

/** Reads a file piece by piece: its reported size may be wrong by the time it is read. */
async function* piecesOf(handle: FileHandle, bytes: number): AsyncGenerator<Uint8Array> {
  let done = 0
  while (done < bytes) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, bytes - done))
    const { bytesRead } = await handle.read(piece, 0, piece.length, done)
    if (bytesRead === 0) throw new Error("it became shorter while it was read")
    done += bytesRead
    yield piece.subarray(0, bytesRead)
  }
}

/** A file, open until the scope ends. */
export const fileSource = (path: string, name = basename(path)): Effect.Effect<Source, BadArgument, Scope> =>
  Effect.gen(function* () {
    const handle = yield* Effect.acquireRelease(
      Effect.tryPromise({ try: () => open(path, "r"), catch: (error) => cannotRead(path, error) }),
      (opened) => Effect.promise(() => opened.close().catch(() => {}))
    )
    const facts = yield* Effect.tryPromise({ try: () => handle.stat(), catch: (error) => cannotRead(path, error) })
    if (!facts.isFile()) {
      return yield* new BadArgument({
        message: `'${path}' is no file.`,
        hint: "Name a file; '-' stands for standard input."
      })
    }
    const { buffer, bytesRead } = yield* Effect.tryPromise({
      try: () => handle.read(Buffer.alloc(headBytes), 0, headBytes, 0),
      catch: (error) => cannotRead(path, error)
    })
    return {
      name,
      bytes: facts.size,
      read: () => piecesOf(handle, facts.size),
      head: buffer.subarray(0, bytesRead)
    }
  })

/** Standard input, once. */
export const stdinSource = (name: string): Source => ({
  name,
  bytes: null,
  read: () => process.stdin,
  head: Buffer.alloc(0)
})

// oxlint-disable-next-line no-control-regex -- names of files may have them, headers may not
const notInQuotes = /["\u0000-\u001f\u007f]/g

/** https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data */
const quoted = (text: string): string =>
  text.replaceAll(notInQuotes, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`)

const partHead = (boundary: string, name: string, more = ""): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${more}\r\n`

/** A part of a form that is a file. */
export interface FilePart {
  readonly name: string
  readonly source: Source
  readonly contentType?: string
}

export interface Form {
  readonly path: string
  readonly files: readonly [FilePart, ...ReadonlyArray<FilePart>]
  readonly fields: ReadonlyArray<readonly [name: string, value: string]>
  /** Advice for the case that the gateway refuses the request as wrong. */
  readonly hint: string | null
}

const sum = (sizes: ReadonlyArray<number | null>): number | null =>
  sizes.reduce((all, bytes) => (all === null || bytes === null ? null : all + bytes), 0)

const lineEnd = Buffer.from("\r\n")

/** Sends a form whose files are behind its other fields, with a bar on the terminal. */
export const send = (
  to: Target,
  { fields, files, hint, path }: Form
): Effect.Effect<HttpClientResponse.HttpClientResponse, CliFailure> => {
  const label = files.length === 1 ? files[0].source.name : `${files.length} files`
  const totalBytes = sum(files.map(({ source }) => source.bytes))
  return withProgress(label, totalBytes, (report) => {
    const boundary = `gateway-${randomUUID()}`
    const head = Buffer.from(fields.map(([name, value]) => `${partHead(boundary, name)}\r\n${value}\r\n`).join(""))
    const parts = files.map(({ contentType = "application/octet-stream", name, source }) => {
      const filename = `; filename="${quoted(source.name)}"`
      const first = Buffer.from(`${partHead(boundary, name, filename)}Content-Type: ${contentType}\r\n\r\n`)
      return { first, source }
    })
    const tail = Buffer.from(`--${boundary}--\r\n`)
    let failure: BadArgument | null = null
    let done = 0
    async function* pieces({ name, read }: Source): AsyncGenerator<Uint8Array> {
      try {
        for await (const piece of read()) {
          done += piece.length
          report(done)
          yield piece
        }
      } catch (error) {
        failure = cannotRead(name, error)
        throw error
      }
    }
    async function* body(): AsyncGenerator<Uint8Array> {
      yield head
      for (const { first, source } of parts) {
        yield first
        yield* pieces(source)
        yield lineEnd
      }
      yield tail
    }
    const around = parts.reduce((bytes, { first }) => bytes + first.length + lineEnd.length, head.length + tail.length)
    const request = HttpClientRequest.setBody(
      HttpClientRequest.post(`${to.url}${path}`),
      HttpBody.raw(Readable.from(body(), { objectMode: false, highWaterMark: pieceBytes }), {
        contentType: `multipart/form-data; boundary=${boundary}`,
        ...(totalBytes === null ? {} : { contentLength: around + totalBytes })
      })
    )
    return Effect.mapError(Inference.ask(to, request, hint), (error): CliFailure => failure ?? error)
  })
}
