package main

import (
	"crypto/sha256"
	"fmt"
	"time"
)

func main() {
	place, err := time.LoadLocation("Europe/Berlin")
	fmt.Println(len(sha256.Sum256(nil)), place, err)
}
