// The worker's first lines. The page sends the module that it runs itself, compiled, and says where
// the script to it lies; both run the same code and find out for themselves which of the two they are.
addEventListener(
  "message",
  ({ data: { script, module } }) => {
    import(script)
      .then(({ initSync }) => initSync({ module }))
      // A rejected promise is nothing that the page would hear of. An error is.
      .catch((error) => setTimeout(() => { throw error; }));
  },
  { once: true },
);
