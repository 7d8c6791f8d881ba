/** Batches of requests, as OpenAI's clients know them. */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { maybe } from "./Open.ts"

const exampleId = "batch_0199aa6e6f0b7d3c8f52a1b2c3d4e5f6"
const exampleFile = "file-0199aa6e6f0b7d3c8f52a1b2c3d4e5f6"

const id = field(Schema.String, "Id of the batch.", exampleId)
const endpoint = field(
  Schema.String,
  "What the lines ask: `/v1/chat/completions`, `/v1/responses`, `/v1/completions`, `/v1/embeddings`, `/v1/moderations`, `/v1/images/generations` or `/v1/videos/generations`.",
  "/v1/chat/completions"
)
const Metadata = Schema.Record({ key: Schema.String, value: Schema.String })
const inputFileId = field(Schema.String, "Id of the file with the lines; its purpose is `batch`.", exampleFile)
const window = field(Schema.String, "How long it may take; always `24h`.", "24h")

export const batchId = Schema.Struct({ batch: id })

export const BatchRequest = Schema.Struct({
  input_file_id: inputFileId,
  endpoint,
  completion_window: window,
  metadata: field(
    maybe(Schema.NullOr(Metadata)),
    "At most 16 texts of yours: names of 64 characters, texts of 512 characters.",
    { job: "nightly" }
  ),
  output_expires_after: field(
    maybe(
      Schema.NullOr(
        Schema.Struct({
          anchor: field(Schema.Literal("created_at"), "Since when they expire.", "created_at"),
          seconds: field(Schema.Number, "How long they are kept, from 3600 to 2592000 seconds.", 86_400)
        })
      )
    ),
    "When the files with the results expire. Absent: never."
  )
})

const Problem = Schema.Struct({
  code: field(Schema.String, "What kind of problem.", "empty_file"),
  message: field(Schema.String, "What is wrong.", "The input file has no lines."),
  line: field(Schema.NullOr(Schema.Number), "Line of the input file; null: it is not about a line.", null),
  param: field(Schema.NullOr(Schema.String), "The field that it is about; null: none.", null)
})

const time = (what: string) => field(Schema.NullOr(Schema.Number), `Epoch seconds; null: ${what}.`, null)

export const BatchObject = Schema.Struct({
  id,
  object: field(Schema.Literal("batch"), "Always `batch`.", "batch"),
  endpoint,
  errors: field(
    Schema.NullOr(
      Schema.Struct({
        object: field(Schema.Literal("list"), "Always `list`.", "list"),
        data: field(Schema.Array(Problem), "The problems.")
      })
    ),
    "Why it failed as a whole; null: it did not.",
    null
  ),
  input_file_id: inputFileId,
  completion_window: window,
  status: field(
    Schema.Literal(
      "validating",
      "failed",
      "in_progress",
      "finalizing",
      "completed",
      "expired",
      "cancelling",
      "cancelled"
    ),
    "Where it stands.",
    "in_progress"
  ),
  output_file_id: field(
    Schema.NullOr(Schema.String),
    "File with the lines that were answered; null: there are none, or it is not over.",
    null
  ),
  error_file_id: field(
    Schema.NullOr(Schema.String),
    "File with the lines that failed; null: there are none, or it is not over.",
    null
  ),
  created_at: field(Schema.Number, "Epoch seconds.", 1_760_000_000),
  in_progress_at: field(Schema.NullOr(Schema.Number), "Epoch seconds; null: not yet.", 1_760_000_001),
  expires_at: field(Schema.NullOr(Schema.Number), "Epoch seconds after which lines are given up.", 1_760_086_400),
  finalizing_at: time("its lines are not all done"),
  completed_at: time("it is not completed"),
  failed_at: time("it has not failed"),
  expired_at: time("it has not expired"),
  cancelling_at: time("it was not cancelled"),
  cancelled_at: time("it is not cancelled"),
  request_counts: field(
    Schema.Struct({
      total: field(Schema.Number, "Lines of the input file.", 100),
      completed: field(Schema.Number, "Lines that were answered with success.", 40),
      failed: field(Schema.Number, "Lines that failed.", 2)
    }),
    "How far it is."
  ),
  metadata: field(Schema.NullOr(Metadata), "As it was given; null: none.", { job: "nightly" })
}).annotations({ identifier: "BatchObject", description: "A batch of requests." })

export const BatchList = Schema.Struct({
  object: field(Schema.Literal("list"), "Always `list`.", "list"),
  data: field(Schema.Array(BatchObject), "The batches of the page."),
  has_more: field(Schema.Boolean, "Whether there are more behind the last one.", false),
  first_id: field(Schema.NullOr(Schema.String), "Id of the first one; null on an empty page.", null),
  last_id: field(Schema.NullOr(Schema.String), "Id of the last one: `after` of the next page.", null)
}).annotations({ identifier: "BatchList", description: "A page of batches." })

export const BatchDeleted = Schema.Struct({
  id,
  object: field(Schema.Literal("batch"), "Always `batch`.", "batch"),
  deleted: field(Schema.Literal(true), "Always true.", true)
}).annotations({ identifier: "BatchDeleted", description: "A batch that is no more." })

export const BatchPage = Schema.Struct({
  limit: field(maybe(Schema.Number), "Most batches of a page, from 1 to 100; absent: 20.", 20),
  after: field(maybe(Schema.String), "Id of a batch: the page begins behind it.", exampleId)
})

export const batchExample = {
  input_file_id: exampleFile,
  endpoint: "/v1/chat/completions",
  completion_window: "24h"
}
