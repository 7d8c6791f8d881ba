// What a release needs before it is made: each check returns a sentence for each thing that is missing. Facts are read in release.mjs.
import { contractBreaks } from "./contract.mjs"
import { frozenBreaks } from "./freeze.mjs"
import { licenceProblems } from "./licences.mjs"

/** What a figure of the bench may be worse than that of the release before. */
const worstRatio = 1.03

const changelog = ({ fragments, version }) => [
  ...fragments.flatMap(({ problem }) => (problem === undefined ? [] : [`changelog/${problem}`])),
  ...(version === null ? ["Nothing has changed: neither changelog/ nor the section Unreleased says anything."] : [])
]

const commit = ({ changedFiles, takenTags, version }) => [
  ...(changedFiles.length > 0 ? [`These files are not committed: ${changedFiles.slice(0, 5).join(", ")}.`] : []),
  ...(takenTags.includes(`v${version}`) ? [`There is a tag v${version} already, and tags are never moved.`] : [])
]

/** Breaks are for a version that says so: a major one, or a minor one before 1.0.0. */
const mayBreak = (before, version) => {
  const [major, minor] = version.split(".")
  const [majorBefore, minorBefore] = before.split(".")
  return major !== majorBefore || (major === "0" && minor !== minorBefore)
}

const contract = ({ document, released, version }) => {
  if (released === null || version === null) return []
  if (released.contract === null) return [`The tag v${released.version} has no contract of the API to compare with.`]
  const breaks = contractBreaks(released.contract, document)
  if (breaks.length === 0) return []
  return mayBreak(released.version, version) && released.saysSo
    ? []
    : breaks.map((one) => `A client of ${released.version} breaks. ${one}`)
}

const migrations = ({ migrations: present, released }) =>
  released === null
    ? []
    : released.migrations === null
      ? [`The tag v${released.version} has no hashes of its migrations.`]
      : frozenBreaks(released.migrations, present)

const schema = ({ schemaHashes, schemaVersion }) =>
  schemaHashes[schemaVersion - 1] === undefined && schemaVersion > 1
    ? [
        `The schema before version ${schemaVersion} has no hash: run UPDATE_FIXTURES=1 npm test -- test/unit/store/restore.`
      ]
    : []

const bench = ({ benchLines, current, version }) => {
  const line = benchLines.findLast((one) => one.version === version || one.version === current)
  if (line === undefined)
    return ["The bench has no figures of this version: run 'npm run bench -- --gate --keep' on a quiet machine."]
  return Object.entries(line.figures)
    .filter(([, { ratio }]) => !(ratio <= worstRatio))
    .map(
      ([name, { ratio }]) =>
        `The bench: ${name} is ${ratio} times that of the release before, and ${worstRatio} is allowed.`
    )
}

const licences = ({ packages }) => licenceProblems(packages)

const key = ({ hasKey, isDryRun }) =>
  hasKey || isDryRun ? [] : ["There is no key to sign with: name its file with --key."]

const contact = ({ contact: given, isDryRun }) =>
  given !== null || isDryRun ? [] : ["There is no address for reports of security: give it with --security-contact."]

/** Checks by name, in the order in which they are told. */
export const checks = { commit, changelog, contract, migrations, schema, licences, bench, key, contact }

/** Returns `{name, problems}` of each check that was not waived; nothing is waived that would be wrong for others. */
export const failedChecks = (facts, waived) =>
  Object.entries(checks)
    .filter(([name]) => !waived.includes(name))
    .map(([name, check]) => ({ name, problems: check(facts) }))
    .filter(({ problems }) => problems.length > 0)
