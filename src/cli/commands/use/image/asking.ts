/** Asking for pictures: of a description, or of other pictures that are to be changed. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { BadArgument, type CliFailure } from "../../../Failure.ts"
import type { Target } from "../../../gateway/Client.ts"
import * as Inference from "../../../gateway/Inference.ts"
import * as Upload from "../../../gateway/Upload.ts"
import { imageTypeOf } from "../../../flags/ImageType.ts"
import { withSpinner } from "../../../output/spinner.ts"

export interface ImageInput {
  readonly model: string
  readonly prompt: string
  readonly n: number
  readonly size?: string
  readonly quality?: string
}

type Answered<R = never> = Effect.Effect<HttpClientResponse.HttpClientResponse, CliFailure, R>

export const drawn = (to: Target, wanted: ImageInput): Answered =>
  withSpinner("Waiting for the picture …")(
    Inference.ask(
      to,
      HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(`${to.url}/v1/images/generations`), wanted)
    )
  )

/** Pictures to change, and the area: `mask` is a picture whose transparent part is drawn anew. */
export interface Sources {
  readonly pictures: readonly [string, ...ReadonlyArray<string>]
  readonly mask: string | null
}

/** Providers refuse a picture that does not say which kind it is. */
const partOf = (name: string, path: string): Effect.Effect<Upload.FilePart, CliFailure, Scope> =>
  Effect.flatMap(Upload.fileSource(path), (source) => {
    const type = imageTypeOf(source.head)
    return type === null
      ? new BadArgument({ message: `'${path}' is no PNG, JPEG, GIF or WebP.`, hint: "Name pictures to change." })
      : Effect.succeed({ name, source, contentType: `image/${type}` })
  })

/** https://developers.openai.com/api/reference/resources/images/methods/edit (2026-11): several pictures are parts `image[]`. */
export const changed = (to: Target, wanted: ImageInput, { mask, pictures }: Sources): Answered<Scope> =>
  Effect.gen(function* () {
    const [first, ...others] = pictures
    const name = others.length === 0 ? "image" : "image[]"
    return yield* Upload.send(to, {
      path: "/v1/images/edits",
      fields: Object.entries(wanted).map(([field, value]) => [field, String(value)] as const),
      files: [
        yield* partOf(name, first),
        ...(yield* Effect.forEach(others, (path) => partOf(name, path))),
        ...(mask === null ? [] : [yield* partOf("mask", mask)])
      ],
      hint: null
    })
  })
