/** The content of a message: what was typed, and files beside it. Pure. */
import { imageTypeOf } from "../../../flags/ImageType.ts"

export type Attachment =
  | { readonly _tag: "Text"; readonly name: string; readonly text: string }
  | { readonly _tag: "Image"; readonly name: string; readonly mediaType: string; readonly bytes: Buffer }

/** Reason for which bytes cannot be sent to a model. */
export interface Unfit {
  readonly _tag: "Unfit"
  readonly reason: string
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const textOf = (bytes: Buffer): string | null => {
  if (bytes.includes(0)) return null
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}

/** Makes an attachment of text or of an image, recognised by the bytes. */
export const attachmentOf = (name: string, bytes: Buffer): Attachment | Unfit => {
  const type = imageTypeOf(bytes)
  if (type !== null) return { _tag: "Image", name, mediaType: `image/${type}`, bytes }
  const text = textOf(bytes)
  return text === null
    ? { _tag: "Unfit", reason: "is neither text in UTF-8 nor an image (PNG, JPEG, GIF or WebP)" }
    : { _tag: "Text", name, text }
}

export type Content =
  | string
  | ReadonlyArray<
      | { readonly type: "text"; readonly text: string }
      | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
    >

const inFile = ({ name, text }: { readonly name: string; readonly text: string }): string =>
  `<file name="${name.replaceAll('"', "'")}">\n${text.endsWith("\n") || text === "" ? text : `${text}\n`}</file>`

/** Text alone is a string; with images there are parts, the text first. Each text file is below the text, with its name. */
export const contentOf = (typed: string, attachments: ReadonlyArray<Attachment>): Content => {
  const texts = attachments.flatMap((each) => (each._tag === "Text" ? [inFile(each)] : []))
  const text = [...(typed === "" ? [] : [typed]), ...texts].join("\n\n")
  const images = attachments.flatMap((each) => (each._tag === "Image" ? [each] : []))
  if (images.length === 0) return text
  return [
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...images.map(({ bytes, mediaType }) => ({
      type: "image_url" as const,
      image_url: { url: `data:${mediaType};base64,${bytes.toString("base64")}` }
    }))
  ]
}
