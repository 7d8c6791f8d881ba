/** Backups of the database (`docs/backups.md`). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import {
  BadRequestAnswer,
  ConflictAnswer,
  NotFoundAnswer,
  TooLargeAnswer,
  UnavailableAnswer
} from "../../contract/Errors.ts"
import { body, Created, nextCursor, total } from "../../contract/Inputs.ts"

const exampleId = "db_20260131T120000000Z_manual"

export const BackupView = Schema.Struct({
  id: field(Schema.String, "Names the backup.", exampleId),
  createdAt: field(Schema.String, "When it was made.", "2026-01-31T12:00:00.000Z"),
  sizeBytes: field(Schema.Number, "Size of its file.", 1_048_576),
  reason: field(
    Schema.String,
    "Why: `manual`, `scheduled`, `pre-restore`, `pre-import` or `before-migration-<version>`.",
    "manual"
  ),
  schemaVersion: field(Schema.Number, "Version of its tables; an older one is brought up to date by a restore.", 13)
}).annotations({ identifier: "Backup" })
export type BackupView = typeof BackupView.Type

const RestoreBackup = Schema.Struct({
  backupId: field(
    Schema.String.pipe(Schema.minLength(1), Schema.maxLength(200)),
    "The backup to restore: its id, or the name of its file.",
    exampleId
  )
}).annotations(body("RestoreBackup"))

const safety = (what: string) =>
  field(Schema.String, `The backup of what was there before, with which ${what} can be undone.`, exampleId)

const yes = field(Schema.Literal(true), "Always true.")

const file = (contentType: string, description: string, beginning: string) =>
  HttpApiSchema.Text({ contentType }).annotations({ description, examples: [beginning] })

const at = endpointsOf("backups")

export class Backups extends HttpApiGroup.make("backups")
  .annotate(OpenApi.Title, "Backups")
  .annotate(OpenApi.Description, "Copies of the database. Credentials in them are encrypted.")
  .add(
    at("list", { summary: "List backups", description: "Newest first.", paged: true })
      .addSuccess(
        Schema.Struct({
          backups: field(Schema.Array(BackupView), "The backups of the page."),
          nextCursor,
          total
        }).annotations({ identifier: "BackupList" })
      )
      .addError(UnavailableAnswer)
  )
  .add(
    at("create", { summary: "Make a backup", description: "Requests are served meanwhile." })
      .addSuccess(
        Created(
          Schema.Struct({ backup: field(BackupView, "The backup that was made.") }).annotations({
            identifier: "BackupCreated"
          })
        )
      )
      .addError(UnavailableAnswer)
  )
  .add(
    at("restore", {
      summary: "Restore a backup",
      description:
        "Checks the backup, then restarts the gateway with it: requests that come meanwhile wait, and the answer is sent when it serves again. Usage rows and sessions stay as they are."
    })
      .setPayload(RestoreBackup)
      .addSuccess(
        Schema.Struct({ restored: yes, preRestoreBackupId: safety("the restore") }).annotations({
          identifier: "BackupRestored"
        })
      )
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("export", {
      summary: "Download the database",
      description: "A consistent copy, as a SQLite file. Credentials in it are encrypted."
    })
      .addSuccess(file("application/vnd.sqlite3", "The database, as bytes.", "SQLite format 3"))
      .addError(UnavailableAnswer)
  )
  .add(
    at("import", {
      summary: "Replace the database by an upload",
      description:
        "The body is the file itself, as `export` gives it. It is checked first; what is not a whole database of this gateway, or is encrypted with another key, is refused and changes nothing. Goes on as a restore."
    })
      .addSuccess(
        Schema.Struct({ imported: yes, preImportBackupId: safety("the import") }).annotations({
          identifier: "DatabaseImported"
        })
      )
      .addError(BadRequestAnswer)
      .addError(ConflictAnswer)
      .addError(TooLargeAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("exportAll", {
      summary: "Download everything",
      description: "A tar file, compressed: `manifest.json`, the database, and readable lists without credentials."
    })
      .addSuccess(file("application/gzip", "The archive, as bytes.", "\u001f\u008b"))
      .addError(UnavailableAnswer)
  ) {}
