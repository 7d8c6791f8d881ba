/** The generated pages on disk: `<folder>/<id>/SKILL.md`. */
import type * as Effect from "effect/Effect"
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isSkillId, type SkillId } from "../../subjects/skills/entity.ts"
import { onDisk } from "../../store/DataFolder.ts"
import type { StoreFailure } from "../../store/Errors.ts"

/** Larger files are not read: no page is so long, and its custom block is written by hand. */
export const maxPageBytes = 1_048_576

const fileOf = (folder: string, id: SkillId): string => join(folder, id, "SKILL.md")

/** Reads its text; null when there is none, or none that is a page. */
export const read = (folder: string, id: SkillId): Effect.Effect<string | null, StoreFailure> => {
  const file = fileOf(folder, id)
  return onDisk(file, () => {
    if (!existsSync(file)) return null
    const { size } = lstatSync(file)
    return lstatSync(file).isFile() && size <= maxPageBytes ? readFileSync(file, "utf8") : null
  })
}

/** Whole or not at all. */
export const write = (folder: string, id: SkillId, text: string): Effect.Effect<void, StoreFailure> => {
  const file = fileOf(folder, id)
  return onDisk(file, () => {
    mkdirSync(join(folder, id), { recursive: true, mode: 0o700 })
    const fresh = `${file}.new`
    writeFileSync(fresh, text, { mode: 0o600 })
    renameSync(fresh, file)
  })
}

/** Folders in the place of skills that are no skills. */
export const orphans = (folder: string): Effect.Effect<ReadonlyArray<string>, StoreFailure> =>
  onDisk(folder, () =>
    existsSync(folder)
      ? readdirSync(folder, { withFileTypes: true })
          .filter((entry) => entry.isDirectory() && !isSkillId(entry.name))
          .map(({ name }) => name)
          .toSorted()
      : []
  )

export const remove = (folder: string, name: string): Effect.Effect<void, StoreFailure> =>
  onDisk(folder, () => rmSync(join(folder, name), { recursive: true, force: true }))
