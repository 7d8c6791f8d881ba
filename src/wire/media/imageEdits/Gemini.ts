/**
 * Google's `:generateContent` of models that answer with pictures: the pictures to change are in the question, in base64. It has no masks,
 * and makes one picture per request.
 *
 * https://ai.google.dev/gemini-api/docs/image-generation, https://ai.google.dev/api/generate-content (read in 2026-11)
 */
import { encodeAs } from "../images/ImageRequest.ts"
import { contentWishes, geminiImages } from "../images/adapters/Gemini.ts"
import type { EncodedRequest, UploadPiece, WireCodec } from "../../WireCodec.ts"
import { onePerRequest, withoutPictures } from "./Adapted.ts"
import { picturesIn } from "./Request.ts"

export const geminiEdits: WireCodec = {
  ...geminiImages,
  endpoint: "imageEdits",
  partsOf: onePerRequest,
  encodeRequest: (conversation, options): EncodedRequest => {
    const { dropped, rest } = withoutPictures(conversation, [])
    const pictures = picturesIn(conversation.extras ?? {})
    const encoded = encodeAs(["size"], (asked) => {
      const inline = pictures.flatMap(({ contentType, upload }): ReadonlyArray<string | UploadPiece> => [
        `,{"inlineData":{"mimeType":${JSON.stringify(contentType)},"data":"`,
        { upload, as: "base64" },
        '"}}'
      ])
      const words = `{"contents":[{"role":"user","parts":[${JSON.stringify({ text: asked.prompt })}`
      return {
        body: {},
        payload: {
          type: "pieces",
          contentType: "application/json",
          pieces: [words, ...inline, `]}],${JSON.stringify(contentWishes(asked)).slice(1)}`]
        },
        place: { values: { method: "generateContent" }, query: "" }
      }
    })(rest, options)
    return { ...encoded, dropped: [...encoded.dropped, ...dropped] }
  }
}
