// Migrations of a released version never change: databases somewhere have run them.
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** Hashes of the files of migrations, by name. */
export const migrationHashes = (root) => {
  const folder = join(root, "src/store/migrations")
  return Object.fromEntries(
    readdirSync(folder)
      .filter((name) => /^\d{4}_\w+\.ts$/.test(name))
      .toSorted()
      .map((name) => [
        name,
        createHash("sha256")
          .update(readFileSync(join(folder, name)))
          .digest("hex")
      ])
  )
}

/** Returns a sentence for each released migration that is not as it was, and for each new one that is not behind all of them. */
export const frozenBreaks = (released, present) => {
  const last = Object.keys(released).toSorted().at(-1) ?? ""
  return [
    ...Object.entries(released).flatMap(([name, hash]) => {
      if (!(name in present)) return [`The released migration ${name} is gone.`]
      return present[name] === hash ? [] : [`The released migration ${name} was changed: write a new one instead.`]
    }),
    ...Object.keys(present).flatMap((name) =>
      name in released || name.slice(0, 4) > last.slice(0, 4)
        ? []
        : [`The migration ${name} has a number that was released.`]
    )
  ]
}
