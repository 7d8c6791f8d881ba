declare module "har-validator" {
  /** Rejects with what is wrong. */
  const validator: { readonly har: (archive: unknown) => Promise<unknown> }
  export default validator
}
