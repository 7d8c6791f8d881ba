/** A request body that is read piece by piece as the upstream takes it, from its begin for each call. */
import { Readable } from "node:stream"

export interface BodySource {
  /** Length of the whole body. */
  readonly bytes: number
  readonly chunks: () => AsyncIterable<Buffer>
}

export const isBodySource = (body: Buffer | string | BodySource | null): body is BodySource =>
  body !== null && typeof body === "object" && "chunks" in body

/** A body that is there in pieces. */
export const sourceOf = ({
  bytes,
  pieces
}: {
  readonly bytes: number
  readonly pieces: ReadonlyArray<Buffer>
}): BodySource => ({
  bytes,
  chunks: async function* () {
    yield* pieces
  }
})

/** Destroying the stream ends the iteration. */
export const streamOf = (source: BodySource): Readable => Readable.from(source.chunks(), { objectMode: false })

/** The same body; `taken` is called for each piece that is read of it. */
export const telling = (source: BodySource, taken: () => void): BodySource => ({
  bytes: source.bytes,
  chunks: async function* () {
    for await (const chunk of source.chunks()) {
      taken()
      yield chunk
    }
  }
})
