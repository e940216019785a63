package race

func thiefMain() error { return nil }
