// The formula of Homebrew for a release: installs the packed file with the Node.js of Homebrew, and starts the gateway as a service.

const classOf = (name) =>
  name
    .split("-")
    .map((word) => `${word[0].toUpperCase()}${word.slice(1)}`)
    .join("")

const quoted = (text) => JSON.stringify(text).replaceAll("#", "\\#")

/** Node.js of the formula, the one that the image has. It is not in the PATH of everybody, so that the program gets it by a script. */
const node = "node@22"

/** Returns the text. `filename` stands under the release of `version` in `repository`, as releasing.md says; `sha256` is its checksum. */
export const formulaOf = ({
  description,
  filename,
  licence,
  name,
  repository,
  sha256,
  version
}) => `class ${classOf(name)} < Formula
  desc ${quoted(description.split(":")[0])}
  homepage ${quoted(repository)}
  url ${quoted(`${repository}/releases/download/v${version}/${filename}`)}
  sha256 ${quoted(sha256)}
  license ${quoted(licence)}

  depends_on "${node}"

  def install
    system "npm", "install", *std_npm_args
    (bin/"gateway").write_env_script libexec/"bin/gateway", PATH: "#{Formula["${node}"].opt_bin}:$PATH"
    man1.install_symlink Dir[libexec/"share/man/man1/*"]
  end

  service do
    run [opt_bin/"gateway", "serve"]
    keep_alive true
    environment_variables DATA_DIR: var/"gateway"
    log_path var/"log/gateway.log"
    error_log_path var/"log/gateway.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/gateway --version")
  end
end
`
