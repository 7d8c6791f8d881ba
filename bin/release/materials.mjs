// What a release is made of, for programs: the list of materials (CycloneDX 1.6) and the statement of provenance (in-toto, SLSA 1).
import * as CDX from "@cyclonedx/cyclonedx-library"
import { PackageURL } from "packageurl-js"
import { licenceOf } from "./licences.mjs"

const purlOf = (name, version) => {
  const [scope, own] = name.startsWith("@") ? name.split("/") : [undefined, name]
  return new PackageURL("npm", scope, own, version, undefined, undefined).toString()
}

const componentOf = (one, scope) => {
  const component = new CDX.Models.Component(CDX.Enums.ComponentType.Library, one.name, {
    version: one.version,
    bomRef: purlOf(one.name, one.version),
    purl: purlOf(one.name, one.version),
    scope
  })
  const licence = licenceOf(one)
  if (licence !== null) component.licenses.add(new CDX.Models.SpdxLicense(licence))
  return component
}

/** Returns the list as JSON. `bundled` is in the program's files; `installed` comes beside it. */
export const materialsOf = ({ bundled, description, installed, licence, name, version }) => {
  const bom = new CDX.Models.Bom()
  const main = new CDX.Models.Component(CDX.Enums.ComponentType.Application, name, {
    version,
    description,
    bomRef: purlOf(name, version),
    purl: purlOf(name, version)
  })
  main.licenses.add(new CDX.Models.SpdxLicense(licence))
  bom.metadata.component = main
  const parts = [
    ...bundled.map((one) => componentOf(one, CDX.Enums.ComponentScope.Required)),
    ...installed.map((one) =>
      componentOf(one, one.optional ? CDX.Enums.ComponentScope.Optional : CDX.Enums.ComponentScope.Required)
    )
  ]
  for (const part of parts) {
    bom.components.add(part)
    main.dependencies.add(part.bomRef)
  }
  const normalise = new CDX.Serialize.JSON.Normalize.Factory(CDX.Spec.Spec1dot6)
  return new CDX.Serialize.JsonSerializer(normalise).serialize(bom, { sortLists: true, space: 2 })
}

/** Returns the statement: from which commit, lock file and Node each file was made, and how. */
export const provenanceOf = ({ at, commit, files, lockHash, repository, version }) => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
  predicateType: "https://slsa.dev/provenance/v1",
  predicate: {
    buildDefinition: {
      buildType: `${repository}/blob/main/docs/releasing.md`,
      externalParameters: { version },
      internalParameters: { node: process.version, platform: `${process.platform}-${process.arch}` },
      resolvedDependencies: [
        { uri: `git+${repository}`, digest: { gitCommit: commit } },
        { name: "package-lock.json", digest: { sha256: lockHash } }
      ]
    },
    runDetails: {
      builder: { id: `${repository}/blob/main/bin/release/release.mjs` },
      metadata: { startedOn: at.started, finishedOn: at.finished }
    }
  }
})
