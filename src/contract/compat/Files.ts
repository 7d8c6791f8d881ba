/** Uploaded files, as OpenAI's clients know them. */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { maybe } from "./Open.ts"

const id = field(Schema.String, "Id of the file.", "file-0199aa6e6f0b7d3c8f52a1b2c3d4e5f6")
const purpose = field(
  Schema.String,
  "What it is for: `assistants`, `batch`, `fine-tune`, `vision`, `user_data` or `evals`.",
  "batch"
)

export const fileId = Schema.Struct({ file: id })

export const FileForm = HttpApiSchema.Multipart(
  Schema.Struct({
    file: field(Schema.String, "The file.", "line\n"),
    purpose,
    "expires_after[anchor]": field(maybe(Schema.Literal("created_at")), "Since when it expires.", "created_at"),
    "expires_after[seconds]": field(
      maybe(Schema.NumberFromString),
      "How long it is kept, from 3600 to 2592000 seconds. Absent: until it is deleted.",
      86_400
    )
  })
)

export const FileObject = Schema.Struct({
  id,
  object: field(Schema.Literal("file"), "Always `file`.", "file"),
  bytes: field(Schema.Number, "Size of the body.", 120),
  created_at: field(Schema.Number, "Epoch seconds.", 1_760_000_000),
  filename: field(Schema.String, "Its name, without folders.", "lines.jsonl"),
  purpose,
  expires_at: field(Schema.NullOr(Schema.Number), "Epoch seconds; null: it is kept until it is deleted.", null),
  status: field(Schema.String, "Always `processed`.", "processed")
}).annotations({ identifier: "FileObject", description: "An uploaded file." })

export const FileList = Schema.Struct({
  object: field(Schema.Literal("list"), "Always `list`.", "list"),
  data: field(Schema.Array(FileObject), "The files of the page."),
  has_more: field(Schema.Boolean, "Whether there are more behind the last one.", false),
  first_id: field(Schema.NullOr(Schema.String), "Id of the first one; null on an empty page.", null),
  last_id: field(Schema.NullOr(Schema.String), "Id of the last one: `after` of the next page.", null)
}).annotations({ identifier: "FileList", description: "A page of files." })

export const FileDeleted = Schema.Struct({
  id,
  object: field(Schema.Literal("file"), "Always `file`.", "file"),
  deleted: field(Schema.Literal(true), "Always true.", true)
}).annotations({ identifier: "FileDeleted", description: "A file that is no more." })

export const FilePage = Schema.Struct({
  limit: field(maybe(Schema.Number), "Most files of a page, from 1 to 10000.", 20),
  after: field(
    maybe(Schema.String),
    "Id of a file: the page begins behind it.",
    "file-0199aa6e6f0b7d3c8f52a1b2c3d4e5f6"
  ),
  purpose: field(maybe(Schema.String), "Only files for this.", "batch"),
  order: field(maybe(Schema.Literal("asc", "desc")), "Oldest or newest first; absent: `desc`.", "desc")
})
