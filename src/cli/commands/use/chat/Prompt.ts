/** Reads the files that a prompt names, and makes the content of a message. */
import * as Effect from "effect/Effect"
import { createReadStream, statSync } from "node:fs"
import { homedir } from "node:os"
import { basename, join } from "node:path"
import { BadArgument } from "../../../Failure.ts"
import { note } from "../../../output/Output.ts"
import { sizeText } from "../../../output/Size.ts"
import { type Attachment, attachmentOf, type Content, contentOf } from "./Content.ts"
import { type Piece, piecesOf } from "./Mentions.ts"
import { asSentence } from "../../../../kernel/text/Sentence.ts"

/** A gateway takes 50 MiB in a body by default, and images grow by a third in it. */
export const maxFileBytes = 20 * 1_048_576
const maxTotalBytes = 32 * 1_048_576

const located = (path: string): string => (path.startsWith("~/") ? join(homedir(), path.slice(2)) : path)

const isThere = (path: string): boolean => {
  try {
    return !statSync(located(path)).isDirectory()
  } catch {
    return false
  }
}

const tooLarge = (name: string): BadArgument =>
  new BadArgument({
    message: `'${name}' is larger than ${sizeText(maxFileBytes)}.`,
    hint: "Put in a part of it; 'gateway files put' keeps large files at the gateway."
  })

const read = (path: string): Effect.Effect<Buffer, BadArgument> =>
  Effect.tryPromise({
    try: async () => {
      const chunks: Array<Buffer> = []
      let bytes = 0
      for await (const chunk of createReadStream(located(path))) {
        const part = Buffer.from(chunk)
        chunks.push(part)
        bytes += part.length
        if (bytes > maxFileBytes) throw tooLarge(path)
      }
      return Buffer.concat(chunks)
    },
    catch: (error) =>
      error instanceof BadArgument
        ? error
        : new BadArgument({
            message: `'${path}' cannot be read: ${asSentence(error instanceof Error ? error.message : String(error))}`,
            hint: "Write '@@' where a plain '@' is meant."
          })
  })

/** Bytes as a part of a message, unless they are of a kind that models cannot read here. */
export const attached = (name: string, bytes: Buffer): Effect.Effect<Attachment, BadArgument> => {
  const found = attachmentOf(name, bytes)
  return found._tag === "Unfit"
    ? new BadArgument({ message: `'${name}' ${asSentence(found.reason)}` })
    : Effect.succeed(found)
}

const fromFile = (path: string) => Effect.flatMap(read(path), (bytes) => attached(basename(path), bytes))

const looksLikePath = (typed: string): boolean => /[./\\]/.test(typed.slice(1, -1))

const pieceOf = (piece: Piece): Effect.Effect<readonly [text: string, file: string | null]> => {
  if (piece._tag === "Text") return Effect.succeed([piece.text, null])
  const path = piece.paths.find(isThere)
  if (path === undefined) {
    return Effect.as(
      Effect.when(note(`There is no file '${piece.typed.slice(1)}': it is sent as it was typed.`), () =>
        looksLikePath(piece.typed)
      ),
      [piece.typed, null] as const
    )
  }
  // What is behind the path belongs to the sentence.
  const rest = (piece.paths[0] ?? "").slice(path.length)
  return Effect.succeed([basename(path) + rest, path])
}

export interface Typed {
  /** Text with `@path` in it. */
  readonly text: string
  /** Files that must be there. */
  readonly files: ReadonlyArray<string>
  /** Attachments that were piped in. */
  readonly attachments: ReadonlyArray<Attachment>
}

const sizeOf = (attachment: Attachment): number =>
  attachment._tag === "Image" ? attachment.bytes.length : Buffer.byteLength(attachment.text)

/** The content of a message. A file is read once, however often it is named. */
export const readPrompt = Effect.fn("cli.chat.readPrompt")(function* (typed: Typed) {
  const pieces = yield* Effect.forEach(piecesOf(typed.text), pieceOf)
  const paths = [...typed.files, ...pieces.flatMap(([, path]) => (path === null ? [] : [path]))]
  const attachments = [...typed.attachments]
  let bytes = attachments.reduce((sum, each) => sum + sizeOf(each), 0)
  for (const path of new Set(paths)) {
    const attachment = yield* fromFile(path)
    bytes += sizeOf(attachment)
    if (bytes > maxTotalBytes) {
      return yield* new BadArgument({ message: `The files have more than ${sizeText(maxTotalBytes)} together.` })
    }
    attachments.push(attachment)
  }
  const text = pieces
    .map(([each]) => each)
    .join("")
    .trim()
  const content: Content = contentOf(text, attachments)
  return content
})
