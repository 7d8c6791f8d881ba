// The notices of the packages whose code is in the bundle: their licences ask that they go with it.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const inPackage = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/

/** The folder of the package that holds a module; null for modules of the program itself and of the bundler. */
const packageOf = (moduleId) => inPackage.exec(moduleId)?.[0] ?? null

const licenceFile = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i

const textsIn = (folder) =>
  readdirSync(folder)
    .filter((file) => licenceFile.test(file))
    .toSorted()
    .map((file) => readFileSync(join(folder, file), "utf8").trim())

const noticeOf = (folder) => {
  const { author, license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const texts = textsIn(folder)
  const by = typeof author === "string" ? author : author?.name
  return [`${name} ${version} (${license ?? "no licence named"})`, ...(texts.length > 0 ? texts : [by ?? ""])].join(
    "\n\n"
  )
}

/** The packages that modules come from, by name: what a list of materials has of each. */
export const packagesOf = (moduleIds) =>
  [...new Set(moduleIds.map(packageOf).filter((folder) => folder !== null))]
    .map((folder) => {
      const { license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
      return { name, version, license: license ?? null }
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))

/** Collects the notices of foreign code in the repository, a folder each, with the texts that have to go with it. */
const keptNotices = (vendor) => readdirSync(vendor).map((name) => [name, ...textsIn(join(vendor, name))].join("\n\n"))

/** One text for all packages that the modules come from and all that is in `vendor`, in the order of their names. */
export const noticesOf = (moduleIds, vendor) => {
  const folders = new Set(moduleIds.map(packageOf).filter((folder) => folder !== null))
  const notices = [...[...folders].map(noticeOf), ...keptNotices(vendor)].toSorted()
  return `This program holds code of these packages.\n\n${notices.join(`\n\n${"-".repeat(80)}\n\n`)}\n`
}
