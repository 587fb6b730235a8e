// Preloaded into a service to plant two leaks: 2 MB and ten descriptors a second.
const { openSync } = require('node:fs');

const leaked = [];
setInterval(() => leaked.push(new Array(25_000).fill(leaked.length), openSync('/dev/null')), 100);
