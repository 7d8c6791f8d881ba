/** Files and batches as endpoints, for `CompatApi`. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Batches from "./Batches.ts"
import { asking, DocumentedQuery, words } from "./Described.ts"
import * as Files from "./Files.ts"

export const createFile = HttpApiEndpoint.post("createFile", "/v1/files")
  .setPayload(Files.FileForm)
  .addSuccess(Files.FileObject)
  .annotateContext(words("Upload a file", "A form of one file and what it is for; at most `GATEWAY_MAX_UPLOAD_MB`."))

export const files = HttpApiEndpoint.get("files", "/v1/files")
  .addSuccess(Files.FileList)
  .annotateContext(words("List files", "The caller's files, newest first."))
  .annotate(DocumentedQuery, Files.FilePage)

export const file = HttpApiEndpoint.get("file", "/v1/files/:file")
  .setPath(Files.fileId)
  .addSuccess(Files.FileObject)
  .annotateContext(words("Show a file", "What is known of a file."))

export const deleteFile = HttpApiEndpoint.del("deleteFile", "/v1/files/:file")
  .setPath(Files.fileId)
  .addSuccess(Files.FileDeleted)
  .annotateContext(words("Delete a file", "The file and its body."))

export const fileContent = HttpApiEndpoint.get("fileContent", "/v1/files/:file/content")
  .setPath(Files.fileId)
  .addSuccess(
    HttpApiSchema.Text({ contentType: "application/octet-stream" }).annotations({
      description: "The bytes of the file; with `Range` a part of them (206).",
      examples: ["line\n"]
    })
  )
  .annotateContext(words("Download a file", "The body of a file, or the part that a `Range` header names."))

export const createBatch = HttpApiEndpoint.post("createBatch", "/v1/batches")
  .setPayload(Batches.BatchRequest)
  .addSuccess(Batches.BatchObject)
  .annotateContext(
    asking(
      "Make a batch",
      "Asks every line of an uploaded file as a request of the key, after live traffic, and puts the answers into files.",
      Batches.batchExample
    )
  )

export const batches = HttpApiEndpoint.get("batches", "/v1/batches")
  .addSuccess(Batches.BatchList)
  .annotateContext(words("List batches", "The caller's batches, newest first."))
  .annotate(DocumentedQuery, Batches.BatchPage)

export const batch = HttpApiEndpoint.get("batch", "/v1/batches/:batch")
  .setPath(Batches.batchId)
  .addSuccess(Batches.BatchObject)
  .annotateContext(words("Show a batch", "Where a batch stands, and the files with its results."))

export const cancelBatch = HttpApiEndpoint.post("cancelBatch", "/v1/batches/:batch/cancel")
  .setPath(Batches.batchId)
  .addSuccess(Batches.BatchObject)
  .annotateContext(words("Cancel a batch", "Ends the requests under way; what was answered stays."))

export const deleteBatch = HttpApiEndpoint.del("deleteBatch", "/v1/batches/:batch")
  .setPath(Batches.batchId)
  .addSuccess(Batches.BatchDeleted)
  .annotateContext(words("Delete a batch", "A batch that is over. Its files stay."))
