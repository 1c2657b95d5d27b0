package main

// ballastBytes is the size of an object of the heap that is never touched, and so takes no memory. A server
// has a few megabytes of live data, and the collector of Go runs when the heap has doubled: that took a
// tenth of the processor time of requests. With the object it waits for 24 MiB more, however much
// live data there is. A larger GOGC would also multiply the memory that hashes of passwords take.
const ballastBytes = 24 << 20
