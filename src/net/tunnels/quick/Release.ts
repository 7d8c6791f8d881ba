/**
 * The release of `cloudflared` that is downloaded when none is installed: https://github.com/cloudflare/cloudflared/releases/tag/2026.7.2
 * The sums are those that GitHub shows for the files of the release. Files for macOS are archives; systems without a row install it themselves.
 */

export const releaseVersion = "2026.7.2"

export const releaseBase = "https://github.com/cloudflare/cloudflared/releases/download"

export interface ReleaseFile {
  /** Path below the base address. */
  readonly path: string
  readonly sha256: string
  readonly form: "program" | "tgz"
}

const file = (name: string, sha256: string): ReleaseFile => ({
  path: `${releaseVersion}/${name}`,
  sha256,
  form: name.endsWith(".tgz") ? "tgz" : "program"
})

/** Files by `process.platform` and `process.arch`. */
export const releaseFiles: ReadonlyMap<string, ReleaseFile> = new Map([
  ["linux-x64", file("cloudflared-linux-amd64", "ec905ea7b7e327ff8abdde8cb64697a2152de74dbcdbf6aec9db8364eb3886cd")],
  ["linux-arm64", file("cloudflared-linux-arm64", "405df476437e027fc6d18729a5a77155c0a33a6082aeee60a799a688f3052e66")],
  [
    "darwin-x64",
    file("cloudflared-darwin-amd64.tgz", "4ee0d3b48a990a2f9b5faec5838f73ec1f400aa8e0a4864be576adfafec406cb")
  ],
  [
    "darwin-arm64",
    file("cloudflared-darwin-arm64.tgz", "2086e51c61d6565781d84117a5007d0c826d03ffdc74acb91c08c167f9f8cd7c")
  ]
])
