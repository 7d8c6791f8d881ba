/** The body of a call that takes files along: texts and files in their order, read as the upstream takes them. Pure but for the reading. */
import type { BodySource } from "../../net/egress/BodySource.ts"
import type { FormPart, Payload, UploadPiece } from "../../wire/WireCodec.ts"
import type { Upload, Uploads } from "../request/Uploads.ts"

export interface UploadBody {
  readonly contentType: string
  readonly body: BodySource
}

/** Divisible by three, so that pieces in base64 can be put together. */
const chunkBytes = 65_535

/**
 * Quotes a name as browsers write names into a form
 * (https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data).
 */
const quoted = (name: string): string =>
  `"${name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22")}"`

const headOf = (part: FormPart, boundary: string): string => {
  const disposition = `--${boundary}\r\nContent-Disposition: form-data; name=${quoted(part.name)}`
  return "value" in part
    ? `${disposition}\r\n\r\n${part.value}\r\n`
    : `${disposition}; filename=${quoted(part.filename)}\r\nContent-Type: ${part.contentType}\r\n\r\n`
}

const formPieces = (parts: ReadonlyArray<FormPart>, boundary: string): ReadonlyArray<string | UploadPiece> => [
  ...parts.flatMap((part): ReadonlyArray<string | UploadPiece> => {
    const head = headOf(part, boundary)
    return "value" in part ? [head] : [head, { upload: part.upload, as: "bytes" }, "\r\n"]
  }),
  `--${boundary}--\r\n`
]

type Segment = Buffer | { readonly upload: Upload; readonly isBase64: boolean }

const bytesOf = (segment: Segment): number => {
  if (Buffer.isBuffer(segment)) return segment.length
  return segment.isBase64 ? Math.ceil(segment.upload.bytes / 3) * 4 : segment.upload.bytes
}

async function* read(segments: ReadonlyArray<Segment>): AsyncGenerator<Buffer> {
  for (const segment of segments) {
    if (Buffer.isBuffer(segment)) yield segment
    else
      for await (const chunk of segment.upload.chunks(chunkBytes))
        yield segment.isBase64 ? Buffer.from(chunk.toString("base64"), "latin1") : chunk
  }
}

/** Null when it names a file that did not come. `boundary`: no file holds it. */
export const uploadBody = (payload: Payload, uploads: Uploads, boundary: string): UploadBody | null => {
  const isForm = payload.type === "form"
  const segments: Array<Segment> = []
  for (const piece of isForm ? formPieces(payload.parts, boundary) : payload.pieces) {
    if (typeof piece === "string") {
      segments.push(Buffer.from(piece))
      continue
    }
    const upload = uploads[piece.upload]
    if (upload === undefined) return null
    segments.push({ upload, isBase64: piece.as === "base64" })
  }
  const bytes = segments.reduce((sum, segment) => sum + bytesOf(segment), 0)
  return {
    contentType: isForm ? `multipart/form-data; boundary=${boundary}` : payload.contentType,
    body: { bytes, chunks: () => read(segments) }
  }
}
