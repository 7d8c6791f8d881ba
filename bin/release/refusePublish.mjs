// Keeps `npm publish` from a checkout from working by mistake: what is published is the file that `npm run release` has made and checked
// (docs/releasing.md), by name.
process.stderr.write(
  "Nothing is published from a checkout: run 'npm run release', and publish the package that it has made and checked (docs/releasing.md).\n"
)
process.exitCode = 1
