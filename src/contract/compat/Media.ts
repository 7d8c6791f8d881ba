/** Bodies of the routes that make videos and music: https://developers.openai.com/api/reference/resources/videos */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { anyObject, maybe, others } from "./Open.ts"

/** Members of a request for a video or for music. */
const mediaJobFields = {
  prompt: field(maybe(Schema.NullOr(Schema.String)), "What is to be made.", "A gate opens at dawn."),
  seconds: field(
    maybe(Schema.Union(Schema.String, Schema.Number)),
    "How long it is to be; absent: the model's own.",
    "4"
  ),
  async: field(maybe(Schema.Boolean), "Answer at once with the id of a job; absent or false: when it is done.", false)
} as const

const MediaOutput = Schema.Struct(
  {
    url: field(maybe(Schema.String), "Where it can be fetched from.", "https://cdn.example.com/film.mp4"),
    b64_json: field(maybe(Schema.String), "Its bytes in base64, where the provider gives them so.", "AAAA")
  },
  others
)

/** Members of the answer with the output. */
const mediaAnswerFields = {
  id: field(Schema.String, "Id of the job.", "01J9Z3K4N5P6Q7R8S9T0V1W2X3"),
  status: field(Schema.String, "`completed`.", "completed"),
  data: field(maybe(Schema.Array(MediaOutput)), "What was made, once it is completed.", [
    { url: "https://cdn.example.com/film.mp4" }
  ])
} as const

export const jobId = Schema.Struct({ job: field(Schema.String, "Id of the job.", "01J9Z3K4N5P6Q7R8S9T0V1W2X3") })

export const JobAnswer = Schema.Struct(
  {
    id: field(Schema.String, "Id of the job.", "01J9Z3K4N5P6Q7R8S9T0V1W2X3"),
    object: field(Schema.String, "`video` or `song`.", "video"),
    status: field(Schema.String, "`queued`, `in_progress`, `completed`, `failed` or `cancelled`.", "in_progress"),
    model: field(Schema.String, "The model, as the request named it.", "openai/sora-2"),
    progress: field(Schema.Number, "From 0 to 100, as far as the provider tells.", 40),
    created_at: field(Schema.NullOr(Schema.Number), "Epoch seconds.", 2_050_000_000),
    completed_at: field(Schema.NullOr(Schema.Number), "Epoch seconds; null: it is not completed.", null),
    expires_at: field(
      Schema.NullOr(Schema.Number),
      "Epoch seconds at which it is forgotten; null while it runs.",
      null
    ),
    error: field(Schema.NullOr(anyObject), "Why it failed: `message`, `type`, `code`; null where it did not.", null),
    data: field(maybe(Schema.Array(MediaOutput)), "What was made, once it is completed.", [
      { url: "https://cdn.example.com/film.mp4" }
    ])
  },
  others
).annotations({ identifier: "MediaJob", description: "A job as it stands." })

export const JobList = Schema.Struct({
  object: field(Schema.Literal("list"), "Always `list`.", "list"),
  data: field(Schema.Array(JobAnswer), "The jobs of the page."),
  has_more: field(Schema.Boolean, "Whether there are more behind the last one.", false),
  first_id: field(Schema.NullOr(Schema.String), "Id of the first one; null on an empty page.", null),
  last_id: field(Schema.NullOr(Schema.String), "Id of the last one: `after` of the next page.", null)
}).annotations({ identifier: "MediaJobList", description: "A page of jobs." })

export const JobPage = Schema.Struct({
  limit: field(maybe(Schema.NumberFromString), "Most jobs of a page, from 1 to 100; absent: 20.", 20),
  after: field(maybe(Schema.String), "Id of a job: the page begins behind it.", "01J9Z3K4N5P6Q7R8S9T0V1W2X3"),
  order: field(maybe(Schema.Literal("asc", "desc")), "Oldest or newest first; absent: `desc`.", "desc")
})

export const JobEnded = Schema.Struct(
  {
    id: field(Schema.String, "Id of the job.", "01J9Z3K4N5P6Q7R8S9T0V1W2X3"),
    object: field(Schema.String, "`video.deleted` or `song.deleted`; of a job that ran: what it is.", "video.deleted")
  },
  others
).annotations({
  identifier: "MediaJobEnded",
  description: "A job that was over and is forgotten, or one that was cancelled."
})

export const JobContent = HttpApiSchema.Text({ contentType: "video/mp4" }).annotations({
  description: "The bytes, as the provider sends them.",
  examples: ["…"]
})

export const VideoRequest = Schema.Struct(
  {
    model: field(Schema.String, "Id of a model that makes films.", "openai/sora-2"),
    ...mediaJobFields,
    size: field(maybe(Schema.String), "Width and height in pixels.", "1280x720"),
    input_reference: field(
      maybe(Schema.Union(Schema.String, anyObject)),
      "The picture it begins with: its address, or an object with `image_url`.",
      { image_url: "https://example.com/gate.png" }
    )
  },
  others
).annotations({ identifier: "VideoRequest", description: "A request for a film." })

export const VideoForm = HttpApiSchema.Multipart(
  Schema.Struct({
    model: field(maybe(Schema.String), "Id of a model that makes films; absent: `sora-2`.", "openai/sora-2"),
    prompt: field(Schema.String, "What is to be made.", "A gate opens at dawn."),
    seconds: field(maybe(Schema.String), "How long it is to be; absent: the model's own.", "4"),
    size: field(maybe(Schema.String), "Width and height in pixels.", "1280x720"),
    input_reference: field(maybe(Schema.String), "The picture it begins with, up to 8 MiB.", "PNG…")
  })
)

export const VideoAnswer = Schema.Struct(mediaAnswerFields, others).annotations({
  identifier: "VideoAnswer",
  description: "A film that was made."
})

export const MusicRequest = Schema.Struct(
  {
    model: field(Schema.String, "Id of a model that makes music.", "suno/V5"),
    ...mediaJobFields,
    lyrics: field(maybe(Schema.String), "The words that are sung.", "Open, gate"),
    instrumental: field(maybe(Schema.Boolean), "Whether it is without a voice.", true)
  },
  others
).annotations({ identifier: "MusicRequest", description: "A request for music." })

export const MusicAnswer = Schema.Struct(mediaAnswerFields, others).annotations({
  identifier: "MusicAnswer",
  description: "Music that was made."
})
