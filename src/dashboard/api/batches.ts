/** Files and batches, as the clients of models know them: those of callers without a key, or of one key (`X-Gateway-As-Key`). */
import type { BatchList } from "../../contract/compat/Batches.ts"
import type { FileList } from "../../contract/compat/Files.ts"
import { raw } from "./raw.ts"

export type Batch = (typeof BatchList.Type)["data"][number]
export type StoredFile = (typeof FileList.Type)["data"][number]

/** Owner of files and batches: the id of a key; null: of callers without one. */
export type Owner = string | null

const json = async <A>(response: Promise<Response>): Promise<A> => (await (await response).json()) as A

const page = (after: string): string => `limit=50${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`

export const loadBatches = (owner: Owner, after: string, signal: AbortSignal): Promise<typeof BatchList.Type> =>
  json(raw(`v1/batches?${page(after)}`, { asKey: owner, signal }))

export const loadFiles = (owner: Owner, after: string, signal: AbortSignal): Promise<typeof FileList.Type> =>
  json(raw(`v1/files?${page(after)}`, { asKey: owner, signal }))

export const cancelBatch = (owner: Owner, id: string): Promise<unknown> =>
  raw(`v1/batches/${encodeURIComponent(id)}/cancel`, {
    method: "POST",
    asKey: owner,
    body: "{}",
    contentType: "application/json"
  })

export const deleteBatch = (owner: Owner, id: string): Promise<unknown> =>
  raw(`v1/batches/${encodeURIComponent(id)}`, { method: "DELETE", asKey: owner })

export const deleteFile = (owner: Owner, id: string): Promise<unknown> =>
  raw(`v1/files/${encodeURIComponent(id)}`, { method: "DELETE", asKey: owner })

export const contentOf = (id: string): string => `v1/files/${encodeURIComponent(id)}/content`

export const uploadFile = (owner: Owner, file: File): Promise<StoredFile> => {
  const form = new FormData()
  form.set("purpose", "batch")
  form.set("file", file)
  return json(raw("v1/files", { method: "POST", asKey: owner, body: form }))
}

export const createBatch = (owner: Owner, inputFileId: string, endpoint: string): Promise<Batch> =>
  json(
    raw("v1/batches", {
      method: "POST",
      asKey: owner,
      contentType: "application/json",
      body: JSON.stringify({ input_file_id: inputFileId, endpoint, completion_window: "24h" })
    })
  )
