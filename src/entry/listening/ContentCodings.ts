/**
 * Request bodies without their `Content-Encoding`, decoded as they come. Readers of a body read `bodyOf(request)`: the request itself where
 * nothing has to be decoded. The decoded size is bounded by the bytes read; its reader bounds it by the limit of the route and the budget.
 */
import type { IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import * as zlib from "node:zlib"
import { BodyNotDecoded } from "../../contract/domain/Errors.ts"
import { Damaged } from "../../kernel/zstd/Bits.ts"
import { maxWindowBytes, ZstdDecoder } from "../../kernel/zstd/Decoder.ts"

/** Most codings of one body that are undone, in the reverse of the order in which they are named. */
const maxCodings = 3
/** A body becomes at most so many times as large as it came. */
export const maxExpansion = 100
/** The beginning of a body may be denser than the whole of it. */
const slackBytes = 65_536
const pieceBytes = 65_536

/** One coding: gets bytes, gives bytes to the next. */
interface Stage {
  /** False: it has enough for now, and calls `onDrain` when it takes more. */
  readonly write: (chunk: Buffer) => boolean
  readonly end: () => void
  readonly resume: () => void
  readonly destroy: () => void
}

interface Sink {
  readonly onData: (chunk: Buffer) => boolean
  readonly onDrain: () => void
  readonly onEnd: () => void
  readonly onFail: () => void
  /** Nothing more of the body is wanted. */
  readonly isOver: () => boolean
}

type Opener = (sink: Sink) => Stage

/** Decodes with Node's own decoders, in other threads. */
const native =
  (open: (first: Buffer) => zlib.Gunzip | zlib.BrotliDecompress): Opener =>
  (sink) => {
    let stream: zlib.Gunzip | zlib.BrotliDecompress | null = null
    const start = (first: Buffer) => {
      const made = open(first)
      made.on("data", (chunk: Buffer) => {
        if (!sink.onData(chunk)) made.pause()
      })
      return made.on("drain", sink.onDrain).on("end", sink.onEnd).on("error", sink.onFail)
    }
    return {
      write: (chunk) => (stream ??= start(chunk)).write(chunk),
      // A body without a byte has nothing to decode.
      end: () => (stream === null ? sink.onEnd() : void stream.end()),
      resume: () => void stream?.resume(),
      destroy: () => void stream?.destroy()
    }
  }

/**
 * Decodes for Node versions without a decoder. Each piece is decoded at once: it becomes at most as much larger as a
 * body may.
 */
const ownZstd: Opener = (sink) => {
  let isFull = false
  let hasBytes = false
  const decoder = new ZstdDecoder((block) => {
    isFull = !sink.onData(block)
    if (sink.isOver()) throw new Damaged("Nothing more is wanted.")
  })
  const guarded = (run: () => void): void => {
    try {
      run()
    } catch (cause) {
      if (!(cause instanceof Damaged)) throw cause
      sink.onFail()
    }
  }
  return {
    write: (chunk) => {
      hasBytes = true
      guarded(() => decoder.push(chunk))
      return !isFull
    },
    end: () =>
      guarded(() => {
        if (hasBytes) decoder.end()
        sink.onEnd()
      }),
    resume: () => {
      if (!isFull) return
      isFull = false
      sink.onDrain()
    },
    destroy: () => {}
  }
}

const options = { chunkSize: pieceBytes }
/** Node has it since 22.15, its types for older ones do not. */
const nodeZstd: unknown = Reflect.get(zlib, "createZstdDecompress")
const windowLogParameter: unknown = Reflect.get(zlib.constants, "ZSTD_d_windowLogMax")

const zstd: Opener =
  typeof nodeZstd === "function" && typeof windowLogParameter === "number"
    ? native(() => nodeZstd({ ...options, params: { [windowLogParameter]: Math.log2(maxWindowBytes) } }) as zlib.Gunzip)
    : ownZstd

/** Clients disagree on whether `deflate` includes the zlib header; its low nibble is 8 when it is there. */
const deflate = native((first) =>
  ((first[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate(options) : zlib.createInflateRaw(options)
)
const gzip = native(() => zlib.createGunzip(options))

const openers: ReadonlyMap<string, Opener> = new Map<string, Opener>([
  ["gzip", gzip],
  ["x-gzip", gzip],
  ["deflate", deflate],
  ["br", native(() => zlib.createBrotliDecompress(options))],
  ["zstd", zstd]
])

const none: ReadonlyArray<string> = []

const namesIn = ({ headers }: Pick<IncomingMessage, "headers">): ReadonlyArray<string> => {
  const encoding = headers["content-encoding"]
  if (encoding === undefined) return none
  return encoding
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity")
}

/**
 * Returns the reason for which the body of the request cannot be decoded, before it has come; null where it can. Hot:
 * most requests name no coding.
 */
export const codingProblem = (request: Pick<IncomingMessage, "headers">): string | null => {
  const names = namesIn(request)
  const isKnown = names.length <= maxCodings && names.every((name) => openers.has(name))
  return isKnown
    ? null
    : `The Content-Encoding of the request is not known. Send the body as it is, or with at most ${maxCodings} of gzip, deflate, br and zstd.`
}

/** A body that is read: a request, or what it becomes when it is decoded. */
export type RequestBody = Pick<Readable, "on" | "pause" | "resume" | "destroyed"> & {
  /** All of it has come. */
  readonly complete: boolean
}

class DecodedBody extends Readable {
  complete = false
  readonly #request: IncomingMessage
  readonly #codings: string
  readonly #stages: ReadonlyArray<Stage>
  #readBytes = 0

  constructor(request: IncomingMessage, names: ReadonlyArray<string>) {
    super({ highWaterMark: pieceBytes })
    this.#request = request
    this.#codings = names.join(", ")
    this.#stages = this.#chain(names)
    request.on("data", (chunk: Buffer) => {
      if (this.destroyed) return
      this.#readBytes += chunk.length
      if (this.#stages[0]?.write(chunk) === false) request.pause()
    })
    request.on("end", () => {
      if (!this.destroyed) this.#stages[0]?.end()
    })
    request.on("close", () => {
      if (!request.complete) this.destroy()
    })
    request.on("error", () => this.destroy())
    this.on("close", () => {
      for (const stage of this.#stages) stage.destroy()
      // The rest is thrown away, so that the client gets to see the answer.
      request.resume()
    })
  }

  override _read(): void {
    this.#stages.at(-1)?.resume()
    this.#request.resume()
  }

  /** The last coding that is named was applied last. */
  #chain(names: ReadonlyArray<string>): ReadonlyArray<Stage> {
    const stages: Array<Stage> = []
    names.toReversed().forEach((name, at) => {
      const isLast = at === names.length - 1
      const opener = openers.get(name)
      let made = 0
      if (opener === undefined) throw new Error(`There is no decoder for '${name}'.`)
      stages.push(
        opener({
          onData: (chunk) => {
            made += chunk.length
            if (this.#isTooMuch(made)) return true
            return isLast ? this.push(chunk) : (stages[at + 1]?.write(chunk) ?? true)
          },
          onDrain: () => (at === 0 ? this.#request.resume() : stages[at - 1]?.resume()),
          onEnd: () => (isLast ? this.#ended(made) : stages[at + 1]?.end()),
          onFail: () => this.#fail("damaged"),
          isOver: () => this.destroyed
        })
      )
    })
    return stages
  }

  #isTooMuch(madeBytes: number): boolean {
    if (!this.destroyed && madeBytes > Math.max(slackBytes, maxExpansion * this.#readBytes)) this.#fail("expands")
    return this.destroyed
  }

  #ended(madeBytes: number): void {
    if (this.destroyed) return
    if (madeBytes > maxExpansion * this.#readBytes) return this.#fail("expands")
    this.complete = true
    this.push(null)
  }

  #fail(reason: BodyNotDecoded["reason"]): void {
    if (!this.destroyed) this.destroy(new BodyNotDecoded({ reason, codings: this.#codings, maxExpansion }))
  }
}

const decoded = new WeakMap<IncomingMessage, DecodedBody>()

/** The same for every reader of the request, who must listen for its `error`: a `BodyNotDecoded`. */
export const bodyOf = (request: IncomingMessage): RequestBody & Readable => {
  if (request.headers["content-encoding"] === undefined) return request
  const names = namesIn(request)
  if (names.length === 0) return request
  const known = decoded.get(request)
  if (known !== undefined) return known
  const body = new DecodedBody(request, names)
  decoded.set(request, body)
  return body
}

/** Headers of the request as they describe its decoded body. */
export const decodedHeaders = (request: IncomingMessage): IncomingMessage["headers"] => {
  if (request.headers["content-encoding"] === undefined) return request.headers
  const { "content-encoding": _, "content-length": __, ...headers } = request.headers
  return headers
}

/** Bytes that were announced of the body as it is read; 0 where that is not known. */
export const announcedBytes = (request: IncomingMessage): number => {
  const length = Number(request.headers["content-length"])
  return Number.isFinite(length) && namesIn(request).length === 0 ? length : 0
}
