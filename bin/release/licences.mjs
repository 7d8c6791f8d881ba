// Licences of what is in the package. Each must be one that allows this use; of a double licence the side that is taken is named.

/** Licences that ask for their text, which THIRD-PARTY-NOTICES.txt has, and for nothing of this program. */
const allowed = new Set([
  "MIT",
  "MIT-0",
  "ISC",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "0BSD",
  "CC0-1.0",
  "Unlicense",
  "BlueOak-1.0.0"
])

/** The side of a double licence under which a package is used. */
const taken = { "@ngrok/ngrok": "MIT", "node-forge": "BSD-3-Clause" }

/** Returns the licence under which a package is used; null where it is not settled. */
export const licenceOf = ({ license, name }) => {
  if (typeof license !== "string") return null
  if (allowed.has(license)) return license
  const side = taken[name]
  const sides = license.replaceAll(/[()]/g, "").split(" OR ")
  return side !== undefined && sides.includes(side) && allowed.has(side) ? side : null
}

/** Returns a sentence for each package whose licence is not settled. */
export const licenceProblems = (packages) =>
  packages
    .filter((one) => licenceOf(one) === null)
    .map(
      ({ license, name, version }) =>
        `${name} ${version} is under ${license ?? "no licence that it names"}: settle in bin/release/licences.mjs under which it is used.`
    )

/** A line for each package. */
export const licenceList = (packages) =>
  packages
    .map((one) => {
      const used = licenceOf(one)
      return `${one.name} ${one.version}: ${used ?? "not settled"}${used === one.license ? "" : ` (of ${one.license})`}\n`
    })
    .join("")
