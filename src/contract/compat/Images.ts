/** Pictures that are changed, in the form of OpenAI's clients. */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { maybe } from "./Open.ts"

const n = field(maybe(Schema.NumberFromString), "How many pictures, from 1 to 10.", 1)
const size = field(maybe(Schema.String), "Size, such as `1024x1024`; absent: the provider's choice.", "1024x1024")

export const ImageEditForm = HttpApiSchema.Multipart(
  Schema.Struct({
    image: field(Schema.String, "The picture to change. Several are sent as `image[]`, up to 16.", "PNG…"),
    mask: field(maybe(Schema.String), "A picture that is transparent where the first one is to be changed.", "PNG…"),
    model: field(Schema.String, "Id of a model that changes pictures.", "openai/gpt-image-1"),
    prompt: field(Schema.String, "What is to be made of it.", "Open the gate."),
    n,
    size,
    quality: field(maybe(Schema.String), "`low`, `medium`, `high`, or what else the model knows.", "low"),
    stream: field(maybe(Schema.BooleanFromString), "Whether pictures come as events.", false),
    partial_images: field(maybe(Schema.NumberFromString), "Unfinished pictures in a stream, from 0 to 3.", 1)
  })
)

export const ImageVariationForm = HttpApiSchema.Multipart(
  Schema.Struct({
    image: field(Schema.String, "The picture to vary.", "PNG…"),
    model: field(Schema.String, "Id of a model that varies pictures.", "openai/dall-e-2"),
    n,
    size
  })
)
